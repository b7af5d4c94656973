"""Normalization, scripts, tokens, sentences and reasoning, in every script."""

import unicodedata

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from ragnb.text import (
    fold,
    graphemes,
    join_reasoning,
    may_have_reasoning,
    places_of_reasoning,
    read_reasoning,
    script_of,
    scripts,
    sentence_key,
    sentences,
    split_reasoning,
    straight_apostrophes,
    tokens,
)

FAMILY = "👨‍👩‍👧‍👦"
SCIENTIST = "👩🏽‍🔬"
PIECES = [
    *"aZßİΣς9５.,!?;:'\"()- \n\t\u2028。！？｡؟۔।॥։።፧។៕။༎་…“”„«»「」\u200d\u200c\u202e\u0301ﬁ①",
    *"\r\n|...|Dr.|z. B.|3.14|No. 5|J. R.|漢字|かな|カナー|ไทย|ខ្មែរ|བོད|ကောင်း|हिन्दी".split("|"),
    *"العربية|עברית|한국어|Ελληνικά|Кирилл|🇩🇪🇫🇷|1️⃣".split("|"),
    FAMILY,
    SCIENTIST,
]
any_text = st.text() | st.lists(st.sampled_from(PIECES)).map("".join)
assigned_text = st.text(st.characters(exclude_categories=["Cs", "Cn", "Co"])) | st.lists(
    st.sampled_from(PIECES)
).map("".join)


# ---- fold ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        (" \t\n\u00a0\u3000", ""),
        ("  A\u00a0 b\n\nC ", "a b c"),
        ("Straße", "strasse"),
        ("ﬁve", "five"),
        ("Ｆｕｌｌ１２３", "full123"),
        ("e\u0301", "é"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("σίσυφος", "σίσυφοσ"),
        ("Ⅷ①²", "viii12"),
        ("\u0390", "\u0390"),  # case folding takes it apart, normalisation puts it together again
        ("ｶﾞ", "ガ"),
    ],
)
def test_fold_makes_case_compatibility_forms_and_space_equal(text, folded):
    assert fold(text) == folded


@given(any_text)
@example("\u0345\u0301α")
@example("İ´ ΐ ᾳ\u0323")
def test_fold_twice_is_fold_once(text):
    assert fold(fold(text)) == fold(text)


# ---- reasoning -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "reasoning", "answer"),
    [
        ("Howard Florey", "", "Howard Florey"),
        ("", "", ""),
        ("3 > 2", "", "3 > 2"),
        (
            "<think>Florey?\n</think>\n\nAlexander Fleming",
            "<think>Florey?\n</think>",
            "Alexander Fleming",
        ),
        ("<think>\n\n</think>\n\nFleming", "<think>\n\n</think>", "Fleming"),
        ("<THINK>a</Think>b", "<THINK>a</Think>", "b"),
        ("Florey? No.</think>Fleming", "Florey? No.</think>", "Fleming"),
        ("<think>Florey? cut of", "<think>Florey? cut of", ""),
        ("<think>a</think>Flem<think>b</think>ing", "<think>a</think><think>b</think>", "Fleming"),
        ('{"note": "<think> is a tag"}', "", '{"note": "<think> is a tag"}'),
    ],
)
def test_a_reply_is_split_into_reasoning_and_answer(reply, reasoning, answer):
    assert split_reasoning(reply) == (reasoning, answer)


HARMONY = "<|start|>assistant<|channel|>"
MARKED = {  # a reply with the reasoning "Oslo?" and the answer "Bergen", by who writes it so
    "prompted": "<thinking>Oslo?</thinking>\n\nBergen",
    "reka": "<reasoning>Oslo?</reasoning>Bergen",
    "exaone": "<thought>\nOslo?\n</thought>\n\nBergen",
    "seed_oss": "<seed:think>Oslo?</seed:think>Bergen",
    "minimax": "<mm:think>Oslo?</mm:think>Bergen",
    "longcat": "<longcat_think>Oslo?</longcat_think>Bergen",
    "k2": "<ifm|think_fast>Oslo?</ifm|think_fast>Bergen",
    "with attributes": '<think time="3">Oslo?</think>Bergen',
    "closed by another name": "<thinking>Oslo?</think>Bergen",
    "analysis": "<analysis>Oslo?</analysis>Bergen",
    "reflection": "<thinking>Oslo? <reflection>no</reflection></thinking><output>Bergen</output>",
    "hunyuan": "<think>\nOslo?\n</think>\n<answer>\nBergen\n</answer>",
    "ernie": "<think>\nOslo?\n</think>\n<response>\nBergen\n</response>",
    "marco": "<Thought>Oslo?</Thought><Output>Bergen</Output>",
    "answer tags end it": "<think>Oslo?\n<answer>Bergen</answer>",
    "magistral": "[THINK]Oslo?[/THINK]Bergen",
    "magistral, template opens": "Oslo?[/THINK]Bergen",
    "kimi": "◁think▷Oslo?◁/think▷Bergen",
    "kimi, template opens": "Oslo?◁/think▷Bergen",
    "openthinker": "<|begin_of_thought|>Oslo?<|end_of_thought|>\n\n<|begin_of_solution|>Bergen"
    "<|end_of_solution|>",
    "command_a": "<|START_THINKING|>Oslo?<|END_THINKING|><|START_RESPONSE|>Bergen<|END_RESPONSE|>",
    "gemma": "<|channel>thought\nOslo?<channel|>Bergen",
    "medgemma": "<unused94>thought\nOslo?<unused95>Bergen",
    "apertus": "<|inner_prefix|>Oslo?<|inner_suffix|>Bergen",
    "solar": "Oslo?<|think:end|>Bergen",
    "plamo": "<|plamo:begin_think:plamo|>Oslo?<|plamo:end_think:plamo|>Bergen",
    "pangu": "[unused16]Oslo?[unused17]Bergen",
    "granite": "Here is my thought process: Oslo?\n\nHere is my response: Bergen",
    "granite, quantised": "Here's my thought process: Oslo? Here's my response:\nBergen",
    "apriel": "Here are my reasoning steps:\nOslo?\n[BEGIN FINAL RESPONSE]\nBergen\n[END FINAL RESPONSE]\n<|end|>",
    "apriel, template opens": "Oslo?\n[BEGIN FINAL RESPONSE]\nBergen\n[END FINAL RESPONSE]",
    "apriel, answer not closed": "Oslo? [BEGIN FINAL RESPONSE] Bergen",
    "harmony without the first token": "analysis<|message|>Oslo?<|end|>assistant<|channel|>final<|message|>Bergen",
    "harmony with spaces for tokens": "analysis Oslo? assistantfinal Bergen",
    "code in the reasoning": "<think>\n```\nOslo?\n```\n</think>\nBergen",
    "ollama": "Thinking...\nOslo?\n...done thinking.\n\nBergen",
    "open_webui": '<details type="reasoning" done="true">\n> Oslo?\n</details>\nBergen',
    "gpt-oss": f"<|channel|>analysis<|message|>Oslo?<|end|>{HARMONY}final<|message|>Bergen<|return|>",
    "gpt-oss, whole": f"{HARMONY}analysis<|message|>Oslo?<|end|>{HARMONY}final<|message|>Bergen",
    "gpt-oss, tools": "<|channel|>analysis<|message|>Oslo?<|end|>"
    f"{HARMONY}commentary to=functions.search <|constrain|>json<|message|>{{}}<|call|>"
    f"{HARMONY}final<|message|>Bergen<|end|>",
    "gpt-oss, template opens": f"Oslo?<|end|>{HARMONY}final<|message|>Bergen",
    "gpt-oss, template opens the channel": f"analysis<|message|>Oslo?<|end|>{HARMONY}final<|message|>Bergen",
    "llama.cpp": "<|channel|>analysis<|message|>Oslo?<|end|>Bergen",
    "gpt-oss, stripped": "analysisOslo? I think so.assistantfinalBergen",
    "gpt-oss, stripped, tools": "analysisOslo?assistantcommentary to=functions.search json{}"
    "assistantanalysisNo.assistantfinalBergen",
    "gpt-oss, stripped, opened": "We need a city. Oslo?assistantfinalBergen",
}  # fmt: skip


@pytest.mark.parametrize("reply", MARKED.values(), ids=MARKED)
def test_a_quick_look_sees_that_a_reply_may_have_reasoning(reply):
    for spelling in (
        reply,
        reply.replace("[THINK]", "[THINKING]").replace("[/THINK]", "[/THINKING]"),
    ):
        assert may_have_reasoning(spelling)
    assert places_of_reasoning(["Oslo [1].", None, reply]) == [2]


def test_a_quick_look_passes_over_citations_and_lists():
    for reply in ("Oslo [1], [2].", "[a]", '["Oslo", "Bergen"]', "[Smith 2019]", "x[i] = 1"):
        assert not may_have_reasoning(reply)
        assert read_reasoning(reply).answer == reply


@pytest.mark.parametrize("reply", MARKED.values(), ids=MARKED)
def test_marks_of_reasoning_are_recognised_whoever_writes_them(reply):
    reasoning, answer, is_unfinished = read_reasoning(reply)
    assert answer == "Bergen"
    assert "Oslo?" in reasoning
    assert not is_unfinished
    assert join_reasoning(reasoning, answer) == reasoning + "Bergen"
    assert read_reasoning(answer) == ("", "Bergen", False)


@pytest.mark.parametrize(
    "reply",
    [
        "<think>Oslo or",
        "<thinking>Oslo or",
        "\n<reasoning>\nOslo or",
        "[THINK]Oslo or",
        "◁think▷Oslo or",
        "<seed:think>Oslo or",
        "<|channel|>analysis<|message|>Oslo or",
        f"{HARMONY}analysis<|message|>Oslo?<|end|>{HARMONY}analysis<|message|>or",
        "analysisWe need a city. Oslo or",
        "<think>The tag </think> ends it</think><think>Oslo or",
        "<think>",
    ],
)
def test_reasoning_that_is_cut_off_leaves_no_answer(reply):
    reasoning, answer, is_unfinished = read_reasoning(reply)
    assert (reasoning.strip(), answer, is_unfinished) == (reply.strip(), "", True)


@pytest.mark.parametrize(
    "reply",
    [
        "I think so, after some reasoning and analysis.",
        "Thinking about it, I think the thought is right.",
        "analysis of the final assistant answer",
        "Analysis: Oslo is the capital. Final: Oslo.",
        "analysisWeeks",
        "The word assistantfinal occurs in it.",
        "[Thinking] is a heading, and [think] a word.",
        "The <think> tag is used by DeepSeek.",
        "DeepSeek writes <think>...</think> around its reasoning.",
        "Qwen writes <think>its reasoning</think> first.",
        "```\n<think>\nOslo?\n</think>\n```\nThis is an example.",
        "Here is my thought process: Oslo is large. The answer is Oslo.",
        "Thinking...\nOslo.",
        "Here are my reasoning steps: Oslo is large. The answer is Oslo.",
        "Apriel writes `[BEGIN FINAL RESPONSE]` before its answer.",
        "It read 'analysis...assistantfinal...', which is odd.",
        "DeepSeek writes <think> and </think> around its reasoning.",
        "It ends with </think>, and then it answers.",
        "The closing tag is </think>.",
        "Both `<think>` and `</think>` are tags; “[THINK]” is another.",
        "Models write `<think>...</think>` first.",
        "gpt-oss writes <|channel|>analysis<|message|> first.",
        "<error><reason>Not found</reason></error>",
        "<details><summary>More</summary>Oslo</details>",
        "3 < 4 and <b>5</b> > 4",
        '{"note": "<think>x</think> is a tag", "verdict": "yes"}',
        'It is {"note": "a </think> b [THINK]", "verdict": "yes"}.',
        '[{"note": "<thinking>"}]',
        "{'note': '<think>'}",
    ],
)
def test_a_text_that_only_mentions_reasoning_is_unchanged(reply):
    assert read_reasoning(reply) == ("", reply, False)


@pytest.mark.parametrize(
    "piece",
    [
        "<think>", "</think>", "a <think> b ", "<think>a</think>", "<think> and </think> x ", "`<think>` ",
        "[THINK]", '{"a":', '{"a ', "<|channel|>analysis", "analysisA", "assistantfinal", "<a_", "<details ",
        "<answer>", "</answer>", " ", "Here is my response:",
    ],
)  # fmt: skip
def test_the_time_to_read_reasoning_is_linear(piece):
    """Quadratic time would take minutes for a text of this length."""
    for text in (piece * 20_000, "<think>" + piece * 20_000, piece * 20_000 + "<think>"):
        read_reasoning.__wrapped__(text)


@pytest.mark.parametrize("sign", "'’‘‛ʼʻʹ´`′＇｀")
def test_every_sign_that_people_write_as_an_apostrophe_is_one(sign):
    assert straight_apostrophes(f"don{sign}t") == "don't"


@given(st.text(), st.text(st.characters(exclude_characters="<>")))
def test_reasoning_that_comes_first_can_be_joined_to_the_answer_again(thought, answer):
    reply = f"<think>{thought.replace('think>', '')}</think>{answer.strip()}"
    assert join_reasoning(*split_reasoning(reply)) == reply


# ---- scripts -------------------------------------------------------------------------------------


LETTERS = (
    "aÉßøŁﬁＡ Latin, 中々 Han, あゝ Hiragana, アｱヽ Katakana, 한ᄒ Hangul, фЁї Cyrillic, αΏ Greek, "
    "عپے Arabic, ש Hebrew, ह Devanagari, ก Thai, አ Ethiopic, Հ Armenian, ა Georgian, ក Khmer, "
    "က Myanmar, བ Tibetan, த Tamil, ᏸ Cherokee, 𐤀 Other"
)


@pytest.mark.parametrize("case", LETTERS.split(", "))
def test_each_letter_has_its_script(case):
    letters, script = case.split()
    assert {script_of(letter) for letter in letters} == {script}


@pytest.mark.parametrize(
    "character", ["7", "٣", "①", " ", "。", "\u0301", "ि", "🙂", "\u200d", "€", "_"]
)
def test_what_is_no_letter_has_no_script(character):
    assert script_of(character) is None


def test_scripts_counts_letters_and_not_marks():
    assert scripts("Müller 中文 и 12!") == {"Latin": 6, "Han": 2, "Cyrillic": 1}
    assert scripts("हिन्दी") == {"Devanagari": 3}  # three letters, three marks


# ---- graphemes and tokens ------------------------------------------------------------------------


@given(any_text)
@example("\r\n\n\r a\x00\x7f")
@example("🇩🇪🇫\u0301🇷🇩\u200d👩🇪\u0600🇫🇷🇩🇪🇫")
def test_graphemes_are_those_of_the_rule(text):
    assert graphemes(text) == regex.findall(r"\X", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--- … !", []),
        ("don't stop", ["don", "t", "stop"]),
        ("snake_case-word", ["snake", "case", "word"]),
        ("8.1% of 1,234", ["8", "1", "of", "1", "234"]),
        ("cafe\u0301 naïve", ["cafe\u0301", "naïve"]),
        ("中文 English混排", ["中", "文", "English", "混", "排"]),
        ("ラーメンは3個", ["ラ", "ー", "メ", "ン", "は", "3", "個"]),
        ("か\u3099く", ["か\u3099", "く"]),
        ("葛\U000e0100城", ["葛", "城"]),  # ideographic variation selector left out
        ("ราคา 100", ["ร", "า", "ค", "า", "100"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("क्‍ष", ["क्ष"]),  # zero-width joiner left out
        ("می\u200cروم", ["میروم"]),
        ("\u202eabc\u202c \u2066ש\u2069", ["abc", "ש"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("العربية، لغة", ["العربية", "لغة"]),
        ("나는 학생이다.", ["나는", "학생이다"]),
        ("ሰላም፣ ዓለም።", ["ሰላም", "ዓለም"]),
        ("Բարև, աշխարհ։", ["Բարև", "աշխարհ"]),
        (f"ok {FAMILY} {SCIENTIST} 🇩🇪 yes", ["ok", "yes"]),
        ("x² ½ ٣٤", ["x²", "½", "٣٤"]),
        ("ខ្ញុំ។", ["ខ្ញុំ"]),
        ("བོད་ཡིག།", ["བོ", "ད", "ཡི", "ག"]),
        ("ကျ။", ["ကျ"]),
        ("ไทย๚๛", ["ไ", "ท", "ย"]),
    ],
)
def test_tokens_are_words_or_characters_as_the_script_asks(text, expected):
    assert tokens(text) == expected


@given(assigned_text)
def test_no_letter_or_number_is_lost_in_tokens(text):
    def kept(string):
        return [c for c in string if unicodedata.category(c)[0] in "LN"]

    assert kept("".join(tokens(text))) == kept(text)


# ---- sentences -----------------------------------------------------------------------------------

SENTENCES = {
    "en": [
        ["It rained.", "Did it stop?", "No!", "Really?!"],
        ["Dr. Smith of the U.S. army came.", "He left at 5 p.m.", "The train was late."],
        ["J. R. R. Tolkien wrote it.", "It sold 3.5 million copies."],
        ["See Fig. 3 and No. 5.", "Then stop."],
        ["The answer is no.", "She ate a fig.", "Nobody saw."],
        ["Prof. Lee et al. agree, e.g. in vol. 2.", "Others, i.e. most, do not."],
        ["It costs $1,234.50 at example.org today.", "Version 2.0.1 is out."],
        ['"Stop!" he said.', '"Why?" she asked.'],
        ['He said, "Go."', "Then he left."],
        ["(He waited.)", "She came."],
        ["Well…", "He left."],
        ["Acme Inc. Smith leads it.", "He is old."],
        ["I like cats, dogs, etc.", "But not rats."],
        ["the iPhone 4. is old.", "Yes."],
        ["Oranges have vitamin C.", "It is healthy."],
        ["The answer is B.", "It says so."],
        ["The answer is B.", "Paris is in France."],
        ["Take Option (C).", "Oslo is north."],
        ["Hepatitis B.", "Vaccines help."],
        ["Choose plan A.", "We're ready."],
        ["He wrote it in C.", "It's fast."],
        ["Apples, pears, etc.", "Then we left."],
        ["Apples, pears, etc.", "Paris has them."],
        ["Apples, etc. are sweet."],
        ["He came at 5 a.m.", "Then he left."],
        ["Elizabeth I.", "She ruled."],
        ["George W. Bush won.", "J. S. Bach's works, too."],
        ["Ursula K. Le Guin and A. A. Milne wrote.", "They did."],
        ["K. He, X. Zhang and J. Sun (2016).", "Deep learning."],
        ["It was c. 1900, e. g. The Hague.", "Then it ended."],
        ["no stop at the end"],
    ],
    "de": [
        ["Am 3. Oktober 1990 kam Herr Dr. Meier.", "Er blieb."],
        ["Das ist z. B. gut, d. h. brauchbar.", "Ja!"],
        ["Es kostet 3.500,50 Euro.", "Teuer!"],
        ["Er sagte: „Komm.“", "Dann ging er."],
        ["Obst hat Vitamin C.", "Es ist gesund.", "Das hilft, z. B. Die Zeit, d. h. Der Spiegel."],
    ],
    "hi": [
        ["वह घर गया।", "क्या तुम आओगे?", "हाँ!"],
        ["डॉ. शर्मा आए।", "वे गए।"],
    ],
    "ar": [
        ["ذهب الولد.", "هل أنت هنا؟", "نعم!"],
        ["السعر ٣٫٥ دولار.", "رخيص."],
        ["د. أحمد طبيب.", "هو هنا."],
    ],
    "he": [["הוא הלך.", "מה שלומך?", "טוב!"], ['ארה"ב גדולה.', "כן."]],
    "ko": [["나는 학생이다.", "너는 누구니?", "좋아!"], ["가격은 3.5만 원이다.", "싸다."]],
    "ur": [["وہ گھر گیا۔", "کیا تم آؤ گے؟", "ہاں!"]],
    "el": [
        ["Πήγε σπίτι.", "Έφυγε!"],
        ["Ο κ. Παπαδόπουλος ήρθε.", "Έφυγε."],
        ["Πού είσαι;", "Εδώ."],
    ],
    "ru": [
        ["Он ушёл.", "Где ты?", "Здесь!"],
        ["В 1799 г. в Москве.", "Он поэт."],
        ["А. С. Пушкин родился.", "Он поэт."],
    ],
    "am": [["ወደ ቤት ሄደ።", "የት ነህ፧", "እዚህ።"]],
    "hy": [["Նա գնաց տուն։", "Որտե՞ղ ես։", "Այստեղ։"]],
}
UNSPACED_SENTENCES = {
    "zh": [
        ["今天很好。", "去公园吧！", "你去吗？", "好的……"],
        ["他说：“走吧。”", "然后离开了。"],
        ["价格是3.5元。", "便宜！"],
        ["（他走了。）", "她来了。"],
    ],
    "ja": [
        ["私は学生です。", "あなたは？", "はい！"],
        ["「行こう。」", "と彼は言った。"],
        ["GDPは3.5%増えた｡", "すごい。"],
    ],
    "th": [["สวัสดีครับ ผมชื่อสมชาย"], ["จริงหรือ?", "ใช่"]],
    "km": [["ខ្ញុំទៅ។", "គាត់មក៕"]],
    "my": [["သူသွားသည်။", "ကျွန်တော်လာသည်။"]],
}


CASES = [
    pytest.param(case, between, id=f"{language}-{case[0]}")
    for table, between in ((SENTENCES, (" ", "\n", "\n\n")), (UNSPACED_SENTENCES, ("", "\n\n")))
    for language, cases in table.items()
    for case in cases
]


@pytest.mark.parametrize(("expected", "between"), CASES)
def test_sentences_are_cut_where_a_reader_would(expected, between):
    for gap in between:
        assert sentences(gap.join(expected)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" \n\t ", []),
        ("...", ["..."]),
        ("1. Open the box.\n2. Close it.", ["1. Open the box.", "2. Close it."]),
        ("- one\n- two\n* three", ["- one", "- two", "* three"]),
        ("1) First\n2) Second\n  10. Tenth", ["1) First", "2) Second", "10. Tenth"]),
        ("Heading\n\nIt rained", ["Heading", "It rained"]),
        ("a line\nbroken anywhere", ["a line\nbroken anywhere"]),
        ("中文。English follows. 再来！", ["中文。", "English follows.", "再来！"]),
        (f"Great {FAMILY}! Next.", [f"Great {FAMILY}!", "Next."]),
        ("He saw Dr.", ["He saw Dr."]),
        ("one .", ["one ."]),
        ("It is so. (Or not.) \u202eabc.\u202c", ["It is so.", "(Or not.)", "\u202eabc.\u202c"]),
    ],
)
def test_lists_headings_and_odd_ends_are_cut_rightly(text, expected):
    assert sentences(text) == expected


@given(any_text)
@example("1.\n\n2. \r\n\r\n。。 ?! x")
def test_sentences_lose_nothing_but_white_space_and_none_is_empty(text):
    found = sentences(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in found)


@pytest.mark.parametrize("text", ["中." * 20_000, " " * 40_000 + "e.g. " * 40_000])
def test_a_long_text_is_no_trouble(text):
    found = sentences(text)  # half an hour, if the time grew with the square of the length
    assert "".join("".join(found).split()) == "".join(text.split())


def test_white_space_before_a_numbered_item_does_not_matter_however_long():
    gap = " " * 60
    items = ["One.", "1. Open it.", "2. Shut it."]
    assert sentences(gap.join(items)) == items


# ---- sentence keys -------------------------------------------------------------------------------


def test_keys_go_from_a_to_z_and_then_to_two_letters():
    letters = list("abcdefghijklmnopqrstuvwxyz")
    expected = [*letters, *(a + b for a in letters for b in letters), "aaa", "aab"]
    assert [sentence_key(number) for number in range(len(expected))] == expected
