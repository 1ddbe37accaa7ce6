from dataclasses import replace

from candlecast.report.memory_words import memory_sentence, memory_table


def test_the_parts_add_up_to_the_peak(inputs):
    table = memory_table(inputs.memory)
    rows = {row.label: [cell.text for cell in row.cells] for row in table.rows}
    assert rows["Activations"][:2] == ["8.6 MiB", "45%"]
    assert rows["In all"][:2] == ["19.1 MiB", "100%"]
    assert len(rows) == 7
    assert all(len(row.cells) == len(table.heads) for row in table.rows)


def test_what_the_gpu_counted_stands_beside_the_prediction(inputs):
    said = memory_sentence(inputs.memory).replace("\u00a0", " ")
    assert "bf16, micro-batches of 16 and 128 windows an update, activations computed twice" in said
    assert "a peak of 19.1 MiB" in said
    assert "The GPU counted 23.8 MiB at the most, 1.25 times that." in said


def test_without_a_gpu_nothing_is_said_to_be_measured(inputs):
    said = memory_sentence(replace(inputs.memory, measured=None, checkpoint_activations=False))
    assert said.endswith("Nothing was measured: only a GPU counts what tensors hold.")
    assert "twice" not in said
