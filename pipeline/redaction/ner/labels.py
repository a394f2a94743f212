"""A model's own labels -> roles: the names that are in use, and what an operator says of others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pipeline.errors import SettingError
from pipeline.redaction.ner.roles import Role

_NAMES = {
    Role.PERSON: "PER PERSON NAME GIVEN_NAME GIVENNAME SURNAME FIRSTNAME FIRST_NAME MIDDLENAME MIDDLE_NAME LASTNAME "
    "LAST_NAME FULLNAME FULL_NAME PERSON_NAME",
    Role.STREET: "STREET STREET_NAME STREETNAME STREET_ADDRESS STREETADDRESS ADDRESS ADDR LOC_ADDRESS",
    Role.BUILDING: "BUILDING_NUMBER BUILDINGNUMBER BUILDINGNUM HOUSE_NUMBER",
    Role.UNIT: "SECONDARY_ADDRESS SECONDARYADDRESS UNIT",
    Role.ZIP: "ZIP ZIPCODE ZIP_CODE POSTCODE POSTAL_CODE POSTALCODE",
    Role.PLACE: "LOC LOCATION GPE CITY STATE COUNTY",
    Role.PHONE: "PHONE PHONENUMBER PHONE_NUMBER TELEPHONENUM PHONENUM",
    Role.BIRTH: "DOB DATEOFBIRTH DATE_OF_BIRTH BIRTHDATE",
}
_KNOWN: Mapping[str, Role] = MappingProxyType({name: role for role, names in _NAMES.items() for name in names.split()})
_PREFIXES = ("B-", "I-", "E-", "S-", "L-", "U-")
_NO_ROLE = "none"


def parse(text: str) -> dict[str, Role | None]:
    """`PER=person, LOC=place, MISC=none`, as an operator writes it. Raises ValueError that says what is wrong."""
    said: dict[str, Role | None] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        label, equals, role = (side.strip() for side in part.partition("="))
        if not equals or role.upper() not in {*Role.__members__, _NO_ROLE.upper()}:
            roles = ", ".join([*(role.name.lower() for role in Role), _NO_ROLE])
            raise ValueError(f"{part!r} is no LABEL=role; roles are {roles}")
        said[label.upper()] = Role.__members__.get(role.upper())
    return said


def roles_of(id2label: Mapping[int, str], said: Mapping[str, Role | None]) -> dict[int, Role]:
    """The role of each output of the model that has one. What an operator said comes before what is in use."""
    roles: dict[int, Role] = {}
    for number, label in id2label.items():
        name = _without_prefix(label).upper()
        role = said[name] if name in said else _KNOWN.get(name.replace("-", "_").replace(" ", "_"))
        if role is not None:
            roles[number] = role
    if not roles:
        labels = ", ".join(sorted({_without_prefix(label) for label in id2label.values()}))
        raise SettingError(
            f"AFTERWORD_NER_LABELS: none of the model's labels is known ({labels}). Say what they are, "
            "for example PER=person,LOC=place"
        )
    return roles


def _without_prefix(label: str) -> str:
    return label[2:] if label.startswith(_PREFIXES) else label
