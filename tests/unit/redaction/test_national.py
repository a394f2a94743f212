"""National numbers: shape, check digit and a word nearby decide. Numbers are published samples of their formats."""

from __future__ import annotations

import re
import time
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.redaction.detectors.dob import Dob
from pipeline.redaction.detectors.email import Email
from pipeline.redaction.detectors.natid import NatId
from pipeline.redaction.detectors.phone import Phone
from pipeline.redaction.national import checks
from pipeline.redaction.national.format import Check, Format
from pipeline.redaction.national.registry import FORMATS
from pipeline.redaction.span import resolve
from pipeline.redaction.vocabulary import entries

COUNTRIES_WITH_A_CHECK = 75
SECONDS_A_CHARACTER = 3e-4
WORDS = dict(entries("national"))
SAMPLE = re.compile(r">>> validate\('([^']+)'\)[^\n]*\n'")


def found(text: str, *, proven_only: bool = False) -> list[str]:
    return [text[s.start : s.end] for s in resolve(NatId(proven_only=proven_only).detect(text))]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("My SIN is 130-692-544", ["130-692-544"]),
        ("mon NAS: 258 933 688", ["258 933 688"]),
        ("my sin: 130692544", ["130692544"]),
        ("no sin 130692544 here", []),
        ("TFN 876 543 210", ["876 543 210"]),
        ("TFN 824 753 557", []),
        ("TFN 51 824 753 5564", []),
        ("NRIC S9108268C T7572225C", ["S9108268C", "T7572225C"]),
        ("Steuer-ID: 86095742719, SV-Nummer 15070649C103", ["86095742719", "15070649C103"]),
        ("USt-IdNr. DE 136 695 976 der GmbH", ["DE 136 695 976"]),
        ("AAA123456 es mi número de pasaporte", ["AAA123456"]),
        ("nu\u0301mero de identidad 12345678Z", ["12345678Z"]),
        ("NUMERO DE IDENTIDAD 12345678Z", ["12345678Z"]),
        ("T.C. KİMLİK NO: 10000000146", ["10000000146"]),
        ("kimlik numaram 10000000146", ["10000000146"]),
        ("身份证号码11010519491231002X。", ["11010519491231002X"]),
        ("マイナンバーは６２１４９８３２０２５７です", ["６２１４９８３２０２５７"]),
        ("주민등록번호는 960121-1234567입니다", ["960121-1234567"]),
        ("личный ИНН 500100732259", ["500100732259"]),
        ("СНИЛС 112-233-445 95", ["112-233-445 95"]),
        ("my PESEL 4405\u200b1401458", ["4405\u200b1401458"]),
        ("PESEL\x0044051401458", ["44051401458"]),
        ("PESEL:\n44051401458", ["44051401458"]),
        ("PESEL\nand then\n44051401458", []),
        ('{"pesel": "44051401458"}', ["44051401458"]),
        ("\\u0022pesel\\u0022:44051401458", ["44051401458"]),
        ("pesel%3D44051401458", ["44051401458"]),
        ("user_pesel=44051401458", ["44051401458"]),
        ("Polish national ID 44051401458", ["44051401458"]),
        ("Polish sausage 44051401458", []),
        ("code is030594W903B, a HETU", ["030594W903B"]),
        ("RSSMRA85T10A562S", ["RSSMRA85T10A562S"]),
        ("XRSSMRA85T10A562S", []),
        ("44051401458", []),
        ("order 44051401458", []),
        ("PESEL 44051401459", []),
        ("PESEL 144051401458", []),
        ("PESEL 44051401458-2", []),
        ("PESEL 11111111111", []),
        ("ID: 1748503543012", []),
        ("id number of the build: v1.2.3.4", []),
        ("Telemetry TEL 44051401458", []),
    ],
)
def test_national_numbers(text: str, numbers: list[str]) -> None:
    assert found(text) == numbers


@pytest.mark.parametrize(
    ("text", "proven"),
    [
        ("My SIN is 130-692-544", ["130-692-544"]),
        ("RSSMRA85T10A562S", ["RSSMRA85T10A562S"]),
        ("passport number T3569075", []),
        ("주민등록번호 960121-1234567", []),
        ("Mit CPR-nummer er 211062-5629", []),
    ],
)
def test_the_scrub_trusts_check_digits_alone(text: str, proven: list[str]) -> None:
    assert found(text, proven_only=True) == proven
    assert len(found(text)) == 1


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (checks.mrz, "C01234565", "C01234567"),
        (checks.de_tax_id, "86095742719", "86095742718"),
        (checks.de_pension, "15070649C103", "15070049C103"),
        (checks.de_health, "A123456780", "A123456787"),
        (checks.de_physician, "123456601", "123456901"),
        (checks.de_licence, "BO12345678A", "DE123456789"),
        (checks.es_letter, "X9613851N", "X9613851Q"),
        (checks.es_social, "281234567840", "281234567841"),
        (checks.fi_person, "010594Y9032", "012245A110G"),
        (checks.hu_person, "1-800101-0015", "1-800101-0017"),
        (checks.hu_health, "123 456 788", "123 456 789"),
        (checks.hu_tax, "8000000008", "8000000007"),
        (checks.pl_card, "ABA300000", "ABA300001"),
        (checks.pl_passport, "ZS0000177", "ZS0000178"),
        (checks.ru_pension, "112-233-445 95", "112-233-445 96"),
        (checks.gb_nino, "AA123456B", "BG123612A"),
        (checks.ir_person, "0499370899", "0499370898"),
        (checks.hk_person, "A123456(3)", "A123456(4)"),
        (checks.sg_person, "S9108268C", "S9108268D"),
        (checks.sg_person, "M4332674T", "M4332674U"),
        (checks.tw_person, "A123456789", "A123456788"),
        (checks.th_person, "1234567890121", "1034567890124"),
        (checks.kr_resident, "960121-1234567", "960231-1234567"),
        (checks.kr_foreign, "911124-5678901", "001332-5234567"),
        (checks.kr_business, "104-86-56659", "104-86-56658"),
        (checks.id_person, "3171011708450001", "0071011708450001"),
        (checks.my_person, "770305-02-1234", "770305-17-1234"),
        (checks.ph_tax, "000-123-456-000", "000-123-457-000"),
        (checks.eg_person, "29001011234567", "49001011234567"),
        (checks.za_person, "8001015009087", "8001015009086"),
        (checks.au_medicare, "2123456701", "2123258701"),
        (checks.nz_health, "ZZZ0016", "ZZZ0017"),
        (checks.us_npi, "1234567893", "1234567890"),
        (checks.us_dea, "BB1388568", "BG8207031"),
        (checks.us_itin, "911-70-1234", "911-89-1234"),
        (checks.br_pis, "120.12345.67-2", "120.12345.67-3"),
        (checks.uy_person, "1.234.567-2", "1.234.567-3"),
        (checks.sv_person, "00016297-5", "00016297-6"),
    ],
)
def test_check_digits_that_are_our_own(check: Check, good: str, bad: str) -> None:
    assert (check(good), check(bad)) == (True, False)


def samples(form: Format) -> list[str]:
    """The valid numbers in the documentation of the module of python-stdnum that checks a format."""
    module = import_module(f"stdnum.{form.module}")
    return [number for number in SAMPLE.findall(module.__doc__) if module.is_valid(number)]


@pytest.mark.parametrize("form", [form for form in FORMATS if form.module], ids=lambda form: form.name)
def test_a_published_number_is_found_behind_each_word_of_its_format(form: Format) -> None:
    word = WORDS[form.name][0].removeprefix("!")
    numbers = [number.strip() for number in samples(form)]
    assert not numbers or any(number in found(f"{word}: {number}") for number in numbers)


def test_every_format_has_words_and_every_word_a_format() -> None:
    assert sorted(WORDS) == sorted(form.name for form in FORMATS)


def test_numbers_of_at_least_forty_countries_are_checked() -> None:
    assert len({form.country for form in FORMATS if form.check}) >= COUNTRIES_WITH_A_CHECK


@given(st.sampled_from(FORMATS).flatmap(lambda form: st.tuples(st.just(form), _of_shape(form))))
def test_no_number_of_a_shape_makes_its_check_raise(case: tuple[Format, str]) -> None:
    form, number = case
    assert form.valid(number.upper()) in (True, False)


def _of_shape(form: Format) -> st.SearchStrategy[str]:
    return st.from_regex(re.compile(form.shape, re.ASCII | re.IGNORECASE), fullmatch=True)


@pytest.mark.parametrize(
    "unit", ["SIN 130-692-544, ", "phone 123-456-7890 ", "é a@example.com ", "born 12 ", "паспорт 1 "]
)
def test_twice_the_text_is_not_four_times_the_work(unit: str) -> None:
    """Words and numbers over and over, at a size where quadratic work would be a hundred times what is allowed."""
    for size in (200, 3000):
        text = unit * size
        started = time.process_time()
        for detector in (NatId(), Phone(), Email(), Dob()):
            detector.detect(text)
        assert time.process_time() - started < 2 + len(text) * SECONDS_A_CHARACTER
