"""Imports of the package, those for type annotations included."""

from __future__ import annotations

import pytest

grimp = pytest.importorskip("grimp", reason="make lint installs it")


def test_no_module_imports_itself_by_way_of_others() -> None:
    """The contract on siblings does not see a package and its own modules, such as those that export public names."""
    graph = grimp.build_graph("sitemapcrawler", exclude_type_checking_imports=False, cache_dir=None)
    ways = {name: graph.find_modules_directly_imported_by(name) - {name} for name in graph.modules}
    assert len(ways) > 200
    assert [name for name in sorted(ways) if any(name in graph.find_upstream_modules(one) for one in ways[name])] == []
