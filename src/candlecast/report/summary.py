"""The report in a screen of Markdown, for a pull request."""

from pathlib import Path

from candlecast.evaluation.evaluate import MODEL, select
from candlecast.files import write_text
from candlecast.report import evidence_tables, sentences, tables
from candlecast.report.inputs import ReportInputs
from candlecast.report.runs_words import runs_sentences
from candlecast.report.tables import Table
from candlecast.report.verdict import answer, lead


def write_summary(inputs: ReportInputs, path: Path) -> None:
    """Write the summary, the same bytes for the same inputs."""
    write_text(path, summary(inputs))


def summary(inputs: ReportInputs) -> str:
    """Return the verdict, the scores with intervals, the tests, the costs, the audit and the origin."""
    assessment = inputs.assessment
    evidence = assessment.evidence if assessment else None
    test = select(inputs.forecasts, MODEL, "test")
    one_sided = sentences.one_sided_sentence(test)
    parts = [f"## {answer(evidence)}", lead(inputs.metrics), *([one_sided] if one_sided else [])]
    if assessment and evidence:
        family = runs_sentences(assessment.runs, evidence.confidence) if assessment.runs else []
        parts += [
            sentences.power_sentence(evidence, assessment.power),
            markdown(evidence_tables.evidence_table(evidence), "Test span"),
            "\n".join(f"- {claim}" for claim in sentences.claim_sentences(evidence)),
            *(["\n".join(f"- {line}" for line in family)] if family else []),
            sentences.method_sentence(evidence),
            "\n".join(
                f"- {line}"
                for line in sentences.economics_sentences(assessment.economics, evidence.confidence)
            ),
        ]
    else:
        parts.append(markdown(tables.headline_table(inputs.metrics), "Test span"))
    if inputs.audit:
        parts.append(f"Leakage audit: {inputs.audit.summary}")
    parts.append("<details><summary>Where it came from</summary>\n")
    parts.append("\n".join(f"- {name}: {_plain(value)}" for name, value in inputs.provenance.items()))
    parts.append("</details>\n\nResearch software, not investment advice.")
    return "\n\n".join(parts) + "\n"


def markdown(table: Table, corner: str) -> str:
    """Return a table as Markdown; a best baseline is bold."""
    heads = [corner, *(name for name, _ in table.heads)]
    words = (
        [cell.mark == "words" for cell in table.rows[0].cells] if table.rows else [False] * len(table.heads)
    )
    lines = [_line(heads), _line(["---", *("---" if wordy else "---:" for wordy in words)])]
    for row in table.rows:
        cells = (
            f"**{_plain(cell.text)}**" if cell.mark == "best" else _plain(cell.text) for cell in row.cells
        )
        lines.append(_line([_plain(row.label), *cells]))
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
