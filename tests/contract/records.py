"""Valid records of the file formats that ragnb reads."""

from typing import Any

from ragnb.datasets.benchmarks import SYSTEMS

Records = list[dict[str, Any]]

RGB = [
    {
        "id": 1,
        "query": "Who keeps the lighthouse?",
        "answer": [["Ada Quill", "A. Quill"]],
        "positive": ["Ada Quill."],
        "negative": ["Fog."],
    },
    {
        "id": "2",
        "query": "谁？",
        "answer": ["甲", "乙"],
        "positive": [["甲。"], ["乙。"]],
        "negative": [],
    },
    {
        "id": 3,
        "query": "Where?",
        "answer": "Eastport",
        "fakeanswer": "Westhaven",
        "positive": ["E"],
        "positive_wrong": ["W"],
        "negative": [],
    },
]
RAGBENCH = {
    "id": "7",
    "question": "Where?",
    "documents": ["Oslo lies on a fjord. It rains."],
    "response": "In Oslo. Often.",
    "generation_model_name": "m",
    "annotating_model_name": "j",
    "dataset_name": "covidqa_test",
    "documents_sentences": [[["0a", "Oslo lies on a fjord."], ["0b", "It rains."]]],
    "response_sentences": [["a", "In Oslo."], ["b", "Often."]],
    "sentence_support_information": [
        {
            "response_sentence_key": "a",
            "explanation": "",
            "supporting_sentence_keys": ["0a"],
            "fully_supported": True,
        }
    ],
    "unsupported_response_sentence_keys": ["b"],
    "adherence_score": False,
    "overall_supported_explanation": "",
    "relevance_explanation": "",
    "all_relevant_sentence_keys": ["0a"],
    "all_utilized_sentence_keys": ["0a"],
    "relevance_score": 0.5,
    "utilization_score": 0.5,
    "completeness_score": 1.0,
    "overall_supported": False,
}
ANSWERS = {
    "ru": [{"type": "entity", "text": "Нил", "aliases": ["река Нил"]}],
    "th": [{"type": "unanswerable", "text": None}],
}
MULTILINGUAL: list[Records] = [
    [
        {
            "id": 0,
            "theme": "rivers",
            "language": "th",
            "question": "แม่น้ำอะไร",
            "answers": ["ไนล์"],
            "passage": "แม่น้ำไนล์",
        }
    ],
    [
        {
            "example_id": -7,
            "query": "which river",
            "queries": {"ru": "Какая?", "th": "อะไร"},
            "answers": ANSWERS,
        }
    ],
    [{"id": "mkqa_-7_zh_cn", "question": "哪条河？", "question_lang": "zh_cn", "answer": "尼罗河"}],
    [
        {
            "data": [
                {
                    "title": "Nile",
                    "paragraphs": [
                        {
                            "context": "… النيل …",
                            "qas": [
                                {
                                    "id": "5",
                                    "question": "أي؟",
                                    "answers": [{"text": "النيل", "answer_start": 2}],
                                }
                            ],
                        }
                    ],
                }
            ]
        }
    ],
]
EVOUNA: Records = [
    {"question": "who?", "golden_answer": "Ada Lovelace/Lovelace", "improper": False}
    | {f"answer_{name}": f"It is {name}." for name in SYSTEMS}
    | {f"judge_{name}": name != "fid" for name in SYSTEMS}
]
RESPONSES: list[Records] = [
    [
        {
            "example_id": "a",
            "system": "m",
            "language": "hi",
            "question": "कौन?",
            "references": [["दिल्ली"]],
            "response": "दिल्ली।",
            "noise_rate": 0.2,
        },
        {
            "example_id": "b",
            "system": "m",
            "language": "ja",
            "question": "何?",
            "references": [["ナイル", "ナイル川"]],
            "response": None,
            "judged_refusal": 1,
        },
    ],
    [
        {
            "id": 0,
            "query": "Where?",
            "ans": ["Oslo", "1920"],
            "label": [1, 0],
            "prediction": "In Oslo.",
            "docs": ["Oslo."],
            "noise_rate": 0.2,
            "factlabel": 0,
        }
    ],
    [
        {
            "sample_id": "d_th",
            "sample_lang": "th",
            "system": "lbrag",
            "question": "?",
            "gold_answer": "ไนล์",
            "pred_answer": "ไนล์",
            "em": 1.0,
            "translate_tokens": 12,
        }
    ],
]
