import pandas as pd
import pytest

from lvmkit.cohorts import _tables, codes
from lvmkit.cohorts._icd import spell


def test_icd9_table_is_the_published_one(real_data):
    ours = codes.categories("icd9")
    read = {"dtype": str, "keep_default_na": False}
    published = pd.read_csv(real_data / "icd9" / "icd9_categories.csv", **read)
    assert ours.index.tolist() == published["category"].tolist()
    assert ours["title"].tolist() == published["category_title"].tolist()
    assert ours["chapter"].tolist() == published["chapter"].tolist()
    chapters = pd.read_csv(real_data / "icd9" / "icd9_chapters.csv", **read)
    assert codes.chapters("icd9")["title"].tolist() == chapters["title"].tolist()


def test_every_icd9_code_has_its_published_title_and_chapter(real_data):
    path = real_data / "icd9" / "icd9cm_dx.csv.gz"
    published = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert (
        codes.category(published["code_dotted"], "icd9").tolist() == published["category"].tolist()
    )
    some = published[published["code"] != published["category"]].iloc[::40]
    assert [codes.title(c, "icd9") for c in some["code_dotted"]] == some["long_title"].tolist()
    assert [codes.chapter(c, "icd9") for c in some["code"]] == some["chapter"].tolist()


def test_icd9_has_1234_categories_in_19_chapters():
    table = codes.categories("icd9")
    assert (len(table), table["chapter_number"].nunique()) == (1234, 19)


@pytest.mark.parametrize(
    ("code", "title", "number"),
    [
        ("I50", "Heart failure", 9),
        ("E11", "Type 2 diabetes mellitus", 4),
        ("J44", "Other chronic obstructive pulmonary disease", 10),
        ("I10", "Essential (primary) hypertension", 9),
        ("A00", "Cholera", 1),
        ("F32", "Depressive episode", 5),
        ("O80", "Encounter for full-term uncomplicated delivery", 15),
    ],
)
def test_icd10_categories_known_from_elsewhere(code, title, number):
    row = codes.categories("icd10").loc[code]
    assert (row["title"], row["chapter_number"]) == (title, number)


def test_icd10_chapters_hold_their_categories_and_known_ranges():
    chapters = codes.chapters("icd10")
    assert len(chapters) == 22
    ranges = {
        1: ("A00", "B99"),
        2: ("C00", "D49"),
        9: ("I00", "I99"),
        19: ("S00", "T88"),
        21: ("Z00", "Z99"),
    }
    assert {n: tuple(chapters.loc[n, ["start", "end"]]) for n in ranges} == ranges
    table = codes.categories("icd10")
    low = chapters.loc[table["chapter_number"], "start"].to_numpy()
    high = chapters.loc[table["chapter_number"], "end"].to_numpy()
    inside = (table.index.to_numpy() >= low) & (table.index.to_numpy() <= high)
    assert table.index[~inside].tolist() == []


@pytest.mark.parametrize(
    ("code", "system", "category"),
    [
        ("8", "icd9", "008"),
        ("38.9", "icd9", "038"),
        (" 428.21 ", "icd9", "428"),
        ("v58.61", "icd9", "V58"),
        ("V1", "icd9", "V01"),
        ("E8490", "icd9", "E849"),
        ("e11.9", "icd10", "E11"),
        ("O9A.211", "icd10", "O9A"),
        ("C7A", "icd10", "C7A"),
    ],
)
def test_categories_of_codes_as_people_write_them(code, system, category):
    assert codes.category([code], system).tolist() == [category]


def test_titles_of_long_codes_fall_back_to_the_nearest_above():
    assert codes.title("S72.001A", "icd10") == codes.title("S72.001", "icd10")
    assert codes.title("I5023", "icd10") == "Acute on chronic systolic (congestive) heart failure"
    assert codes.title("999.99", "icd9") != "99999"


def test_a_category_that_the_tables_lack_has_no_chapter():
    assert codes.chapter("E119", "icd9") == codes.NO_CHAPTER
    assert codes.title("E119", "icd9") == "E119"


def test_wrong_codes_and_systems_are_named():
    with pytest.raises(ValueError, match="'banana', '12345678' do not have the form of icd9 codes"):
        codes.category(["428", "banana", "12345678"], "icd9")
    with pytest.raises(ValueError, match="system='snomed' has no table"):
        codes.title("428", "snomed")


def test_procedures_and_ccs_groups_are_the_published_ones(real_data):
    read = {"dtype": str, "keep_default_na": False}
    procedures = pd.read_csv(real_data / "icd9" / "icd9cm_procedures.csv.gz", **read)
    titles = procedures.set_index("code")["long_title"].to_dict()
    assert _tables.procedure_titles() == titles
    for volume, system in (("dx", "icd9"), ("proc", "icd9procedure")):
        published = pd.read_csv(real_data / "icd9" / f"ccs_{volume}_2015.csv.gz", **read)
        groups, names = _tables.ccs_groups(system)
        assert groups == published.set_index("code")["ccs"].to_dict()
        assert set(names) == set(published["ccs"])


def test_ccs_groups_known_from_elsewhere():
    groups, titles = _tables.ccs_groups("icd9")
    assert titles[groups["4280"]] == "Congestive heart failure; nonhypertensive"
    assert titles[groups["20150"]] == "Hodgkin's disease"
    groups, titles = _tables.ccs_groups("icd9procedure")
    assert titles[groups["3722"]] == "Cardiac cath"


@pytest.mark.parametrize(
    ("text", "code", "padded"),
    [
        ("38.93", "3893", False),
        ("3893", "3893", False),
        (" 0066", "0066", False),
        ("0.66", "0066", True),
        ("02.2", "022", False),
        ("39.", "39", False),
        ("V5866", "", False),
        ("25000", "", False),
        ("5", "", False),
        ("dialysis", "", False),
    ],
)
def test_procedures_as_people_write_them(text, code, padded):
    assert spell(text, "icd9procedure") == (code, padded)


def test_a_missing_code_is_to_be_left_out():
    with pytest.raises(TypeError, match=r"found <NA> .*: leave them out first"):
        codes.category(["428", pd.NA], "icd9")
