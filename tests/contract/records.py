"""A valid record of each file format that ragnb reads."""

from ragnb.datasets.benchmarks import SYSTEMS

RGB = {
    "id": 1,
    "query": "Who keeps the lighthouse?",
    "answer": [["Ada Quill", "A. Quill"]],
    "positive": ["Ada Quill."],
    "negative": ["Fog."],
}
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
MULTILINGUAL = {
    "theme": "rivers",
    "language": "th",
    "question": "แม่น้ำอะไร",
    "answers": ["ไนล์"],
    "passage": "แม่น้ำไนล์",
}
EVOUNA = {
    **{"question": "who?", "golden_answer": "Ada Lovelace/Lovelace", "improper": False},
    **{f"answer_{name}": f"It is {name}." for name in SYSTEMS},
    **{f"judge_{name}": name != "fid" for name in SYSTEMS},
}
RESPONSES = [
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
]
