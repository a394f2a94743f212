"""A date of birth is a date beside a word for birth; other dates are left alone."""

from __future__ import annotations

import pytest

from pipeline.redaction.detectors.dob import Dob
from pipeline.redaction.span import resolve


def found(text: str) -> list[str]:
    return [text[s.start : s.end] for s in resolve(Dob().detect(text))]


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("born 5-20-2021", ["5-20-2021"]),
        ("DOB: 21.5.21", ["21.5.21"]),
        ("D.O.B. 05/21/85", ["05/21/85"]),
        ("Date of birth\n12/03/1985", ["12/03/1985"]),
        ("dateOfBirth: '1985-03-12'", ["1985-03-12"]),
        ('\\"dob\\":\\"1990-04-05\\"', ["1990-04-05"]),
        ("born on 2024-06-05T09:15:30.500-07:00 or not", ["2024-06-05T09:15:30.500-07:00"]),
        ("born on the 4th of July 1976", ["4th of July 1976"]),
        ("Born: December 3rd, 1990.", ["December 3rd, 1990"]),
        ("birthday 21-May", ["21-May"]),
        ("her birthday is 5/21", ["5/21"]),
        ("2/8/1935 is her birthday", ["2/8/1935"]),
        ("DOB 19900505", ["19900505"]),
        ("geboren am 5. Mai 1990", ["5. Mai 1990"]),
        ("née le 3 février 1980", ["3 février 1980"]),
        ("ne\u0301e le 3 fe\u0301vrier 1980", ["3 fe\u0301vrier 1980"]),
        ("DOĞUM TARİHİ: 12.03.1985", ["12.03.1985"]),
        ("生年月日：１９９０年５月５日", ["１９９０年５月５日"]),
        ("昭和60年3月12日生まれ", ["昭和60年3月12日"]),
        ("تاريخ الميلاد ١٥/٠٣/١٩٩٠", ["١٥/٠٣/١٩٩٠"]),
        ("született 1990. május 5-én", ["1990. május 5"]),
        ("DOB 12/0\u200b3/1985", ["12/0\u200b3/1985"]),
        ("released on 2021-05-20", []),
        ("born in version 1.2.3", []),
        ("born in 12 servers 2020", []),
        ("born 2021-13-45", []),
        ("born of 40/50", []),
        ("DOB unknown; seen 2021-05-20", []),
        ("\\nE 2021-05-20", []),
        ("a newborn cluster since 2021-05-20", []),
        ("reborn 2021-05-20", []),
    ],
)
def test_dates_of_birth(text: str, dates: list[str]) -> None:
    assert found(text) == dates
