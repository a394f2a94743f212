"""The fleet: one module a stage, thin functions over one stage runner, woken by bells.

    stream --ingest--> received --extraction--> extracted --redaction--> redacted --embedding--> embedded
                                                               --consolidation--> consolidated
    replay re-arms dead letters on request; housekeeping seals, purges, counts, and rings where a bell was lost

Failure handling: Postgres holds every run and every lease; a worker that dies loses nothing but time. A bell carries
no work, so a lost one costs seconds and a repeated one finds nothing to do.
"""
