"""Numbers of Africa's and Oceania's countries."""

from __future__ import annotations

from pipeline.redaction.national import checks
from pipeline.redaction.national.format import Format, Std, groups

FORMATS: tuple[Format, ...] = (
    Format("au_tax", r"\d{3} ?\d{3} ?\d{2,3}|\d{3}-\d{3}-\d{3}", Std("au.tfn")),
    Format("au_business", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", Std("au.abn")),
    Format("au_company", r"\d{3} ?\d{3} ?\d{3}", Std("au.acn")),
    Format("au_health", r"\d{4} ?\d{5} ?\d", checks.au_medicare),
    Format("au_passport", r"[A-Z]{1,2}\d{7}", own=True),
    Format("dz_tax", r"\d{15}(?:\d{5})?|\d{3} \d{3} \d{3} \d{3} \d{3}", plausible=Std("dz.nif"), own=True),
    Format("eg_person", r"[23]\d{13}", plausible=checks.eg_person),
    Format("eg_tax", r"\d{3}-?\d{3}-?\d{3}", plausible=Std("eg.tn"), own=True),
    Format("gh_person", r"GHA-\d{9}-\d"),
    Format("gh_tax", r"[PCGQV]\d{10}|[PCGQV]00\d{7}[0-9X]", Std("gh.tin")),
    Format("gn_tax", groups(3, 3, 3), Std("gn.nifp"), own=True),
    Format("ke_person", r"\d{7,8}", own=True),
    Format("ke_tax", r"[AP]\d{9}[A-Z]"),
    Format("ma_person", r"[A-Z]{1,2}\d{5,6}"),
    Format("ma_business", r"\d{15}|\d{3}(?: ?\d{3}){4}", Std("ma.ice")),
    Format("mu_person", r"[A-Z]\d{13}|[A-Z]\d{12}[A-Z]", Std("mu.nid")),
    Format("mz_tax", groups(3, 3, 3), Std("mz.nuit")),
    Format("ng_person", r"\d{11}|\d{4} \d{3} \d{4}", own=True),
    Format("nz_tax", groups(2, 3, 3) + "|" + groups(3, 3, 3) + r"|\d{7,8}-\d", Std("nz.ird")),
    Format("nz_health", r"[A-HJ-NP-Z]{3}\d{4}", checks.nz_health),
    Format("nz_passport", r"[A-Z]{2}\d{6}", own=True),
    Format("sn_business", r"\d{7} ?\d[A-Z]\d", plausible=Std("sn.ninea")),
    Format("sn_person", r"[12]\d{12}", own=True),
    Format("tn_person", r"[01]\d{7}", own=True),
    Format("tn_tax", r"\d{7} ?/? ?[A-Z] ?/? ?[A-Z] ?/? ?[A-Z] ?/? ?\d{3}", plausible=Std("tn.mf")),
    Format("tz_person", r"\d{8}-?\d{5}-?\d{5}-?\d{2}"),
    Format("ug_person", r"C[MF]\d{7}[A-Z0-9]{5}"),
    Format("za_person", r"\d{13}|\d{6} \d{4} \d{2} \d", checks.za_person),
    Format("za_tax", groups(4, 3, 3), Std("za.tin")),
    Format("zw_person", r"\d{2}-?\d{6,7} ?[A-Z] ?\d{2}"),
)
