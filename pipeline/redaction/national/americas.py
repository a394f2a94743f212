"""Numbers of America's countries."""

from __future__ import annotations

from pipeline.redaction.national import checks
from pipeline.redaction.national.format import Format, Std, groups

_MEDICARE_LETTER = "[AC-HJKMNP-RT-Y]"
_MEDICARE_EITHER = "[AC-HJKMNP-RT-Y0-9]"
_US_LICENCE = "|".join(
    (
        r"[A-Z]{0,2}\d{5,14}",
        r"[A-Z]?\d{3,4}-\d{2,4}-\d{4}(?:-\d{1,2})?",
        r"[A-Z]\d{2}-\d{2}-\d{4}",
        r"[A-Z]\d{3} \d{3} \d{3} \d{3}",
    )
)
"""Each state has its own; none has a check digit that is known."""

FORMATS: tuple[Format, ...] = (
    Format("ar_person", r"\d{1,2}\.\d{3}\.\d{3}|\d{7,8}", own=True),
    Format("ar_tax", r"\d{2}[ -]?\d{8}[ -]?\d", Std("ar.cuit")),
    Format("bo_person", r"\d{6,8}(?:-?\d?[A-Z]{1,2})?", own=True),
    Format("br_person", r"\d{3}\.\d{3}\.\d{3}[-/]\d{2}", Std("br.cpf"), bare=True),
    Format("br_person_solid", r"\d{9}-?\d{2}|\d{3} \d{3} \d{3} \d{2}", Std("br.cpf")),
    Format("br_business", r"\d{2}\.?\d{3}\.?\d{3}/?\d{4}-?\d{2}", Std("br.cnpj")),
    Format("br_card", r"\d{1,2}\.\d{3}\.\d{3}-[0-9X]|\d{8}[0-9X]", own=True),
    Format("br_social", r"\d{3}\.?\d{5}\.?\d{2}-?\d", checks.br_pis),
    Format("br_licence", r"\d{11}", checks.br_licence),
    Format("ca_person", groups(3, 3, 3), Std("ca.sin")),
    Format("ca_business", r"\d{5} ?\d{4}(?: ?[A-Z]{2} ?\d{4})?", Std("ca.bn")),
    Format("ca_health_bc", r"9\d{3} ?\d{3} ?\d{3}", Std("ca.bc_phn")),
    Format("ca_health_qc", r"[A-Z]{4} ?\d{4} ?\d{4}"),
    Format("ca_health_on", r"\d{4}[ -]?\d{3}[ -]?\d{3}(?:[ -]?[A-Z]{2})?", checks.luhn_digits),
    Format("ca_passport", r"[A-Z]{2}\d{6}", own=True),
    Format("cl_person", r"\d{1,2}\.\d{3}\.\d{3}-[0-9K]|\d{7,8}-?[0-9K]", Std("cl.rut")),
    Format("co_person", r"\d{1,2}\.\d{3}\.\d{3}|\d\.\d{3}\.\d{3}\.\d{3}|\d{7,10}", own=True),
    Format("co_tax", r"\d{3}\.?\d{3}\.?\d{3}-\d|\d{9,10}", Std("co.nit")),
    Format("cr_person", r"0?[1-9]-?\d{4}-?\d{4}", plausible=Std("cr.cpf"), own=True),
    Format("cr_resident", r"1\d{10,11}", plausible=Std("cr.cr"), own=True),
    Format("cu_person", r"\d{11}", plausible=Std("cu.ni")),
    Format("do_person", r"\d{3}-?\d{7}-?\d", Std("do.cedula")),
    Format("do_tax", r"\d{9}|\d-\d{2}-\d{5}-\d", Std("do.rnc")),
    Format("ec_person", r"\d{9}-?\d", Std("ec.ci")),
    Format("ec_tax", r"\d{10}-?\d{3}", Std("ec.ruc")),
    Format("gt_person", groups(4, 5, 4), checks.gt_person),
    Format("gt_tax", r"\d{5,8}-[0-9K]", Std("gt.nit")),
    Format("hn_person", r"\d{4}-\d{4}-\d{5}"),
    Format(
        "mx_person", r"[A-Z][AEIOUX][A-Z]{2}\d{6}[HMX][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[0-9A-Z]\d", Std("mx.curp"), bare=True
    ),
    Format("mx_tax", r"[A-ZÑ&]{3,4}[ -]?\d{6}[ -]?[0-9A-Z]{3}", plausible=Std("mx.rfc")),
    Format("mx_social", r"\d{2}[ -]?\d{2}[ -]?\d{2}[ -]?\d{4}[ -]?\d", checks.luhn_digits),
    Format("mx_voter", r"[A-Z]{6}\d{8}[HM]\d{3}"),
    Format("mx_passport", r"[A-Z]\d{8}", own=True),
    Format("pa_person", r"(?:\d{1,2}|PE|E|N)-\d{1,4}-\d{1,6}", own=True),
    Format("pe_person", r"\d{8}(?:-[0-9A-K])?", own=True),
    Format("pe_tax", r"\d{11}", Std("pe.ruc")),
    Format("py_tax", r"\d{5,9}-\d", Std("py.ruc")),
    Format("sv_person", r"\d{8}-?\d", checks.sv_person),
    Format("sv_tax", r"\d{4}-?\d{6}-?\d{3}-?\d", Std("sv.nit")),
    Format("us_itin", r"9\d{2}[ -]?\d{2}[ -]?\d{4}", plausible=checks.us_itin),
    Format("us_ein", r"\d{2}-\d{7}", plausible=Std("us.ein")),
    Format("us_preparer", r"P\d{8}"),
    Format("us_licence", _US_LICENCE, own=True),
    Format("us_passport", r"[A-Z]\d{8}"),
    Format("us_passport_digits", r"\d{9}", own=True),
    Format("us_licence_lettered", r"[A-Z]\d{7,13}"),
    Format(
        "us_beneficiary",
        f"[1-9]{_MEDICARE_LETTER}{_MEDICARE_EITHER}\\d-?{_MEDICARE_LETTER}{_MEDICARE_EITHER}\\d-?{_MEDICARE_LETTER}{{2}}\\d{{2}}",
    ),
    Format("us_provider", r"[12]\d{9}|[12]\d{3}([ -])\d{3}[ -]\d{3}", checks.us_npi),
    Format("us_prescriber", r"[ABCDEFGHJKLMPRSTUX][A-Z9]\d{7}", checks.us_dea),
    Format("uy_person", r"\d\.?\d{3}\.?\d{3}-\d|[1-6]\d{7}", checks.uy_person, own=True),
    Format("uy_tax", r"\d{2}-?\d{6}-?\d{3}-?\d", Std("uy.rut")),
    Format("ve_tax", r"[VEJPG]-?\d{8}-?\d", Std("ve.rif")),
    Format("ve_person", r"[VE]-?\d{1,2}\.?\d{3}\.?\d{3}"),
)
