"""Check digits of numbers that python-stdnum does not have, and stricter or wider readings of some that it has.

Each takes the number as it stands, with separators. Sources are the issuers' own descriptions of their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from stdnum import luhn, verhoeff
from stdnum.iso7064 import mod_11_10

_MRZ_WEIGHTS = (7, 3, 1)


def digits(number: str) -> str:
    return "".join(character for character in number if character.isdigit())


def compact(number: str) -> str:
    return "".join(character for character in number if character.isalnum()).upper()


def weighted(number: str, weights: Sequence[int]) -> int:
    """Sum of digit times weight; letters count as in a passport's machine-readable lines, A = 10."""
    return sum(int(character, 36) * weight for character, weight in zip(number, weights, strict=False))


def is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def begins_with_date(number: str) -> bool:
    """YYMMDD, of any century."""
    n = digits(number)
    return is_date(2000 + int(n[:2]), int(n[2:4]), int(n[4:6]))


def luhn_digits(number: str) -> bool:
    return bool(luhn.is_valid(digits(number)))


def verhoeff_digits(number: str) -> bool:
    return bool(verhoeff.is_valid(digits(number)))


def mrz(number: str) -> bool:
    """ICAO 9303: weights 7, 3, 1, the last character being the check digit."""
    n = compact(number)
    return n[-1].isdigit() and weighted(n[:-1], _MRZ_WEIGHTS * 4) % 10 == int(n[-1])


def de_tax_id(number: str) -> bool:
    """Mod 11, 10; no digit more than three times among the first ten."""
    n = digits(number)
    return n[0] != "0" and bool(mod_11_10.is_valid(n)) and max(map(n[:10].count, n[:10])) <= 3


def _crosswise(number: str, weights: Sequence[int]) -> int:
    """Sum of the cross sums of digit times weight, a letter being two digits (A = 01)."""
    spelled = "".join(c if c.isdigit() else f"{ord(c) - 64:02d}" for c in compact(number))
    return sum(sum(divmod(int(c) * w, 10)) for c, w in zip(spelled[:-1], weights, strict=True)) - int(spelled[-1])


def de_pension(number: str) -> bool:
    """Rentenversicherungsnummer: area, birth date (day may be raised), initial, serial, check digit."""
    n = compact(number)
    day, month = int(n[2:4]), int(n[4:6])
    plausible = 1 <= month <= 12 and (1 <= day <= 31 or 51 <= day <= 81)
    return plausible and _crosswise(n, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)) % 10 == 0


def de_health(number: str) -> bool:
    return _crosswise(number, (1, 2, 1, 2, 1, 2, 1, 2, 1, 2)) % 10 == 0


def de_physician(number: str) -> bool:
    """LANR: six digits, their check digit, a group of specialists."""
    n = digits(number)
    return n[:6] != "000000" and -weighted(n[:6], (4, 9, 4, 9, 4, 9)) % 10 == int(n[6])


def es_letter(number: str) -> bool:
    """DNI and NIE: the letter is the number modulo 23; leading zeros may be left out."""
    n = compact(number)
    value = int({"X": "0", "Y": "1", "Z": "2"}.get(n[0], n[0]) + n[1:-1])
    return n[-1] == "TRWAGMYFPDXBNJZSQVHLCKE"[value % 23]


def es_social(number: str) -> bool:
    """Province, number, remainder modulo 97; a number below ten million is joined without its leading zero."""
    n = digits(number)
    return int(n[:2] + n[2:-2].removeprefix("0")) % 97 == int(n[-2:])


def fi_person(number: str) -> bool:
    """Birth date, a sign of the century (five more for each since 2023), a serial, a letter by modulo 31."""
    n = number.upper()
    century = 1800 if n[6] == "+" else 1900 if n[6] in "-YXWVU" else 2000
    born = is_date(century + int(n[4:6]), int(n[2:4]), int(n[:2]))
    letter = "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(n[:6] + n[7:10]) % 31]
    return born and n[7:10] >= "002" and n[10] == letter


def hu_person(number: str) -> bool:
    n = digits(number)
    rising, falling = weighted(n[:10], range(1, 11)) % 11, weighted(n[:10], range(10, 0, -1)) % 11
    return int(n[10]) in (rising, falling)


def hu_health(number: str) -> bool:
    n = digits(number)
    return weighted(n[:8], (3, 7) * 4) % 10 == int(n[8])


def hu_tax(number: str) -> bool:
    n = digits(number)
    return weighted(n[:9], range(1, 10)) % 11 == int(n[9])


def lu_person(number: str) -> bool:
    n = digits(number)
    return is_date(int(n[:4]), int(n[4:6]), int(n[6:8])) and luhn.is_valid(n[:12]) and verhoeff.is_valid(n[:11] + n[12])


def pl_card(number: str) -> bool:
    n = compact(number)
    return weighted(n, (7, 3, 1, 9, 7, 3, 1, 7, 3)) % 10 == 0


def pl_passport(number: str) -> bool:
    n = compact(number)
    return weighted(n, (7, 3, 9, 1, 7, 3, 1, 7, 3)) % 10 == 0


def ru_pension(number: str) -> bool:
    """SNILS: weights 9 to 1, modulo 101, 100 counting as 0."""
    n = digits(number)
    return n[:9] > "001001998" and weighted(n[:9], range(9, 0, -1)) % 101 % 100 == int(n[9:])


def by_person(number: str) -> bool:
    n = compact(number)
    return weighted(n[:-1], (7, 3, 1) * 5) % 10 == int(n[-1])


def gb_nino(number: str) -> bool:
    """Prefixes that are issued; there is no check digit."""
    prefix = compact(number)[:2]
    return not (set(prefix) & set("DFIQUV") or prefix[1] == "O" or prefix in ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ"))


def kz_person(number: str) -> bool:
    n = digits(number)
    rest = weighted(n[:11], range(1, 12)) % 11
    if rest == 10:
        rest = weighted(n[:11], (3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2)) % 11
    return begins_with_date(n) and rest == int(n[11])


def ir_person(number: str) -> bool:
    n = digits(number)
    rest = weighted(n[:9], range(10, 1, -1)) % 11
    return len(set(n)) > 1 and int(n[9]) == (rest if rest < 2 else 11 - rest)


def kw_person(number: str) -> bool:
    n = digits(number)
    return begins_with_date(n[1:]) and 11 - weighted(n[:11], (2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)) % 11 == int(n[11])


def hk_person(number: str) -> bool:
    n = compact(number)
    body, check = n[:-1].rjust(8, " "), n[-1]
    total = sum((36 if c == " " else int(c, 36)) * w for c, w in zip(body, range(9, 1, -1), strict=True))
    return (total + (10 if check == "A" else int(check))) % 11 == 0


def sg_person(number: str) -> bool:
    n = compact(number)
    total = weighted(n[1:8], (2, 7, 6, 5, 4, 3, 2)) + {"T": 4, "G": 4, "M": 3}.get(n[0], 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "F": "XWUTRQPNMLK", "G": "XWUTRQPNMLK", "M": "XWUTRQPNJLK"}
    return n[-1] == letters[n[0]][total % 11]


def tw_person(number: str) -> bool:
    n = compact(number)
    letter = 10 + "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(n[0])
    return (letter // 10 + letter % 10 * 9 + weighted(n[1:9], range(8, 0, -1)) + int(n[9])) % 10 == 0


def th_person(number: str) -> bool:
    """The last digit by weights 13 to 2, modulo 11; digits 2 and 3 are a province's."""
    n = digits(number)
    province = n[1] != "0" and n[1:3] not in (
        "28",
        "29",
        "59",
        "68",
        "69",
        "78",
        "79",
        "87",
        "88",
        "89",
        "97",
        "98",
        "99",
    )
    return "1" <= n[0] <= "8" and province and (11 - weighted(n[:12], range(13, 1, -1)) % 11) % 10 == int(n[12])


def kr_resident(number: str) -> bool:
    """A date of birth and, for citizens, the code of a region; since 2020 there is no check digit any more."""
    n = digits(number)
    century = 1900 if n[6] in "1256" else 2000
    return is_date(century + int(n[:2]), int(n[2:4]), int(n[4:6])) and n[7:9] <= "96"


def kr_business(number: str) -> bool:
    n = digits(number)
    total = weighted(n[:9], (1, 3, 7, 1, 3, 7, 1, 3, 5)) + int(n[8]) * 5 // 10
    return -total % 10 == int(n[9])


def kr_foreign(number: str) -> bool:
    n = digits(number)
    return is_date((1900 if n[6] in "56" else 2000) + int(n[:2]), int(n[2:4]), int(n[4:6]))


def id_person(number: str) -> bool:
    """NIK: a region, the birth date with 40 added to the day for women, a serial."""
    n = digits(number)
    day = int(n[6:8])
    month = int(n[8:10])
    return (
        "11" <= n[:2] <= "97" and 1 <= month <= 12 and 1 <= (day - 40 if day > 40 else day) <= 31 and n[12:] != "0000"
    )


def my_person(number: str) -> bool:
    """A birth date and a place of birth that is assigned."""
    unassigned = ("00", "17", "18", "19", "20", "69", "70", "73", "80", "81", "94", "95", "96", "97")
    return begins_with_date(number) and digits(number)[6:8] not in unassigned


def ph_tax(number: str) -> bool:
    """Eight digits by weights 9 to 2, modulo 11; a branch's code may follow."""
    n = digits(number)
    return weighted(n[:8], range(9, 1, -1)) % 11 == int(n[8])


def de_licence(number: str) -> bool:
    """Authority, serial, check digit, issue: letters and digits, and no VAT number."""
    return number[:2] not in ("DE", "AT") and not number[1:].isdigit()


def eg_person(number: str) -> bool:
    n = digits(number)
    return n[0] in "23" and is_date((1900 if n[0] == "2" else 2000) + int(n[1:3]), int(n[3:5]), int(n[5:7]))


def za_person(number: str) -> bool:
    n = digits(number)
    return begins_with_date(n) and n[10] in "012" and bool(luhn.is_valid(n))


def au_medicare(number: str) -> bool:
    n = digits(number)
    return "2" <= n[0] <= "6" and weighted(n[:8], (1, 3, 7, 9, 1, 3, 7, 9)) % 10 == int(n[8])


def nz_health(number: str) -> bool:
    """NHI: three letters without I and O, four digits; the last digit by modulo 11."""
    n = compact(number)
    alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ"
    values = [alphabet.index(c) + 1 if c.isalpha() else int(c) for c in n[:6]]
    rest = sum(v * w for v, w in zip(values, range(7, 1, -1), strict=True)) % 11
    return rest != 0 and (11 - rest) % 10 == int(n[6])


def us_npi(number: str) -> bool:
    return bool(luhn.is_valid("80840" + digits(number)))


def us_dea(number: str) -> bool:
    n = digits(number)[-7:]
    return (weighted(n, (1, 0, 1, 0, 1)) + 2 * weighted(n, (0, 1, 0, 1, 0, 1))) % 10 == int(n[6])


def us_itin(number: str) -> bool:
    n = digits(number)
    middle = int(n[3:5])
    return 50 <= middle <= 65 or 70 <= middle <= 88 or 90 <= middle <= 92 or 94 <= middle <= 99


def br_pis(number: str) -> bool:
    n = digits(number)
    return len(set(n)) > 1 and -weighted(n[:10], (3, 2, 9, 8, 7, 6, 5, 4, 3, 2)) % 11 % 10 == int(n[10])


def br_licence(number: str) -> bool:
    """CNH: two check digits, the second lowered by two where the first came to ten."""
    n = digits(number)
    first = weighted(n[:9], range(9, 0, -1)) % 11
    second = weighted(n[:9], range(1, 10)) % 11
    expected = ("0" if first >= 10 else str(first)) + ("0" if second >= 10 else str(second))
    if first >= 10:
        expected = "0" + str(max(0, second - 2) if second < 10 else 0)
    return len(set(n)) > 1 and n[9:] == expected


def uy_person(number: str) -> bool:
    n = digits(number).rjust(8, "0")
    return -weighted(n[:7], (2, 9, 8, 7, 6, 3, 4)) % 10 == int(n[7])


def sv_person(number: str) -> bool:
    n = digits(number)
    return (10 - weighted(n[:8], range(9, 1, -1)) % 10) % 10 == int(n[8])


def gt_person(number: str) -> bool:
    """CUI: eight digits and their check digit by modulo 11, department and town."""
    n = digits(number)
    return weighted(n[:8], range(2, 10)) % 11 == int(n[8]) and "01" <= n[9:11] <= "22" and n[11:] != "00"
