-- Who may do what. Everything belongs to afterword_owner; no login role is a member of another; every table with rows
-- of orgs has forced row-level security, and a role without a policy sees nothing.

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA afterword FROM PUBLIC;
GRANT EXECUTE ON FUNCTION is_personal(text[]), ledger_hash(bigint, xid8, integer, text, text, timestamptz, text, text,
  jsonb, bytea), any_lexeme(text), org_words(integer, tsvector), turn_number(jsonb), in_share(uuid, integer) TO PUBLIC;
GRANT EXECUTE ON FUNCTION current_grant()
  TO afterword_agent, afterword_reviewer, afterword_operator, afterword_worker, afterword_recall, afterword_verdict;

GRANT USAGE ON SCHEMA afterword TO afterword_agent, afterword_reviewer, afterword_operator, afterword_worker,
  afterword_recall, afterword_verdict;

DO $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['runs', 'transcripts', 'envelopes', 'rejected_events', 'memories', 'reviews', 'drops',
                           'payloads', 'recalls', 'ledger', 'occurrences', 'namespaces', 'spaces', 'org_search'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY workers_reach_all_orgs ON %I TO afterword_worker USING (true) WITH CHECK (true)', t);
  END LOOP;
END $$;

-- Tokens are read by current_grant() and made by mint_token(), as their owner; nobody else has a way to them.
ALTER TABLE tokens ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY grants_are_looked_up ON tokens TO afterword_owner USING (true) WITH CHECK (true);

-- Workers.
GRANT SELECT ON orgs, spaces, namespaces, run_entries, run_moves, memory_moves, stamps, calibrated, calibrations
  TO afterword_worker;
GRANT INSERT ON calibrations TO afterword_worker;
GRANT SELECT, INSERT, UPDATE ON runs, rejected_events, memories, reviews, org_search TO afterword_worker;
GRANT SELECT, UPDATE ON replays TO afterword_worker;
GRANT UPDATE (indexed) ON stamps TO afterword_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON transcripts, envelopes TO afterword_worker;
GRANT DELETE ON rejected_events TO afterword_worker;
GRANT SELECT, INSERT ON drops, payloads, ledger, seals, occurrences, replayed_runs TO afterword_worker;
GRANT SELECT ON recalls TO afterword_worker;

-- The owner's own triggers write the ledger, under its own forced policy, and can read nothing back.
CREATE POLICY triggers_record ON ledger FOR INSERT TO afterword_owner WITH CHECK (true);

-- recall(...) and promptable: read memories, write recalls.
CREATE POLICY recall_reads ON memories FOR SELECT TO afterword_recall USING (true);
CREATE POLICY recall_reads ON org_search FOR SELECT TO afterword_recall USING (true);
CREATE POLICY recall_records ON recalls TO afterword_recall USING (true) WITH CHECK (true);
CREATE POLICY recall_reads ON runs FOR SELECT TO afterword_recall USING (true);
GRANT SELECT ON memories, org_search, stamps, calibrations, calibrated TO afterword_recall;
GRANT SELECT (id, session) ON runs TO afterword_recall;
GRANT SELECT, INSERT ON recalls TO afterword_recall;
GRANT EXECUTE ON FUNCTION recallable(memories, tokens, timestamptz, narrowing), words_asked(text), one_lexeme(text),
  asked_for(integer, text, integer, narrowing) TO afterword_recall;
GRANT UPDATE (block_hash, shown, rendered_at, excluded) ON recalls TO afterword_recall;

-- The verdict functions.
CREATE POLICY verdicts_decide ON memories TO afterword_verdict USING (true) WITH CHECK (true);
CREATE POLICY verdicts_read ON namespaces FOR SELECT TO afterword_verdict USING (true);
CREATE POLICY verdicts_close ON reviews TO afterword_verdict USING (true) WITH CHECK (true);
CREATE POLICY verdicts_open ON runs TO afterword_verdict USING (true)
  WITH CHECK (kind = 'verdict' OR (kind = 'proposal' AND event ? 'recorded'));
CREATE POLICY verdicts_stage ON envelopes FOR INSERT TO afterword_verdict WITH CHECK (true);
CREATE POLICY verdicts_record ON ledger FOR INSERT TO afterword_verdict WITH CHECK (true);
GRANT SELECT, UPDATE ON memories, reviews TO afterword_verdict;
GRANT SELECT, INSERT ON runs TO afterword_verdict;
GRANT SELECT ON namespaces, orgs TO afterword_verdict;
GRANT INSERT ON envelopes, ledger TO afterword_verdict;

GRANT CREATE ON SCHEMA afterword TO afterword_recall, afterword_verdict;
DO $$
DECLARE
  f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['recall(text, public.vector, integer, integer, timestamptz, narrowing, text)',
                           'recall_rendered(uuid, bytea, uuid[])'] LOOP
    EXECUTE 'ALTER FUNCTION ' || f || ' OWNER TO afterword_recall';
  END LOOP;
  ALTER VIEW promptable OWNER TO afterword_recall;
  FOREACH f IN ARRAY ARRAY['granted_memory(uuid)', 'refuse_decided(memories)', 'close_review(memories, text, text, text)',
      'open_verdict_run(memories, text, text, text, jsonb)', 'retire_replaced(memories, text)',
      'demand_amends(memories, text, text, text)',
      'approve(uuid, text, text, text, text, text, text)', 'reject(uuid, text)', 'forget(uuid, text, integer)',
      'retype(uuid, text, text, text)', 'view_memory(uuid)', 'open_missing_runs(integer, integer)'] LOOP
    EXECUTE 'ALTER FUNCTION ' || f || ' OWNER TO afterword_verdict';
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA afterword FROM afterword_recall, afterword_verdict;

-- Agents: two functions and one view; no table.
GRANT SELECT ON promptable TO afterword_agent;
GRANT EXECUTE ON FUNCTION recall(text, public.vector, integer, integer, timestamptz, narrowing, text),
  recall_rendered(uuid, bytea, uuid[]) TO afterword_agent;

-- Reviewers: the inbox without content, what was handed out, and the verdicts.
CREATE POLICY reviewers_read ON memories FOR SELECT TO afterword_reviewer
  USING (org_id = (SELECT org_id FROM current_grant()));
CREATE POLICY reviewers_read ON reviews FOR SELECT TO afterword_reviewer
  USING (org_id = (SELECT org_id FROM current_grant()));
CREATE POLICY reviewers_read ON runs FOR SELECT TO afterword_reviewer
  USING (org_id = (SELECT org_id FROM current_grant()));
CREATE POLICY reviewers_read ON ledger FOR SELECT TO afterword_reviewer
  USING (org_id = (SELECT org_id FROM current_grant()));
CREATE POLICY reviewers_read ON recalls FOR SELECT TO afterword_reviewer
  USING (org_id = (SELECT org_id FROM current_grant()));
GRANT SELECT ON reviews, ledger, recalls TO afterword_reviewer;
GRANT SELECT (id, org_id, run_id, tier, kind, status, namespace, scope_kind, classes, hold_reasons, high_stakes,
  importance, observed_at, expires_at, occurrences, revision, replaces, superseded_by, review_id, created_at, status_at,
  erased_at) ON memories TO afterword_reviewer;
GRANT SELECT (id, org_id, kind, state, memory_id, project, created_at, state_at) ON runs TO afterword_reviewer;
GRANT EXECUTE ON FUNCTION approve(uuid, text, text, text, text, text, text), reject(uuid, text),
  forget(uuid, text, integer), retype(uuid, text, text, text), view_memory(uuid) TO afterword_reviewer;

-- Operators: everything that is not content, and the requests they may make.
CREATE POLICY operators_read ON runs FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON memories FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON reviews FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON drops FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON recalls FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON ledger FOR SELECT TO afterword_operator USING (true);
-- What runs, memories, drops and people's data went through is not for a person to write: triggers, functions and
-- workers record it.
CREATE POLICY operators_record ON ledger FOR INSERT TO afterword_operator WITH CHECK (
  subject_kind NOT IN ('run', 'memory', 'drop', 'payload', 'token', 'org', 'subject', 'store', 'reclassification'));
CREATE POLICY operators_read ON rejected_events FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON occurrences FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON org_search FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_name ON spaces TO afterword_operator USING (true) WITH CHECK (true);
CREATE POLICY operators_name ON namespaces TO afterword_operator USING (true) WITH CHECK (true);
GRANT SELECT ON orgs, spaces, namespaces, runs, rejected_events, ledger, seals, replays, replayed_runs, run_moves,
  run_entries, memory_moves, stamps, calibrated, calibrations, org_search, recalls, occurrences TO afterword_operator;
GRANT SELECT (id, org_id, run_id, tier, kind, status, namespace, scope_kind, classes, hold_reasons, high_stakes,
  importance, observed_at, expires_at, occurrences, revision, replaces, superseded_by, review_id, provenance, confidence,
  erased_at, created_at, status_at) ON memories TO afterword_operator;
GRANT SELECT (id, org_id, memory_id, drop_id, kind, reasons, cites, opened_at, closed_at, decision, decided_by) ON reviews
  TO afterword_operator;
GRANT SELECT (id, org_id, run_id, rule, confidence, threshold, kind, classes, provenance, review_share, sampled, at,
  expires_at, restored_at, restored_by, erased_at) ON drops TO afterword_operator;
GRANT INSERT (name, settings, actor, reason), UPDATE (settings, actor, reason) ON orgs TO afterword_operator;
GRANT INSERT ON spaces, namespaces, replays TO afterword_operator;
GRANT UPDATE (scope_kind, scope_value, path, title, description, preamble, agents) ON namespaces TO afterword_operator;
GRANT INSERT (org_id, subject_kind, subject_id, actor, action, detail, payload_hash) ON ledger
  TO afterword_operator;
GRANT EXECUTE ON FUNCTION mint_token(bytea, integer, text, text, interval, text, text, text, text, text[], text, text),
  open_missing_runs(integer, integer) TO afterword_operator;
REVOKE INSERT ON ledger FROM afterword_worker, afterword_verdict;
GRANT INSERT (org_id, subject_kind, subject_id, actor, action, detail, payload_hash) ON ledger
  TO afterword_worker, afterword_verdict;
