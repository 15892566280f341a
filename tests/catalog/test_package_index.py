from __future__ import annotations

import os
from pathlib import Path

import pytest
from doubles.file_site import Site
from doubles.wheel_packages import Package, package_of, serve, write_card

from medusa_chat.catalog import pip_config
from medusa_chat.catalog.package_index import links, wheel_address
from medusa_chat.catalog.pip_config import PUBLIC_INDEX, Places, pip_places
from medusa_chat.catalog.sources import PypiSource
from medusa_chat.catalog.transport import Transport, shown
from medusa_chat.engine.errors import MedusaError


def find(package: Package, *indexes: str, find_links: tuple[str, ...] = ()) -> str:
    source = write_card(package.card_text()).source
    assert isinstance(source, PypiSource)
    return wheel_address(source, Places(find_links, indexes, None), Transport())


def test_json_index(site: Site, package: Package) -> None:
    serve(site, package)
    assert find(package, f"{site.url}/simple/") == f"{site.url}/files/{package.wheel_name}"


def test_html_index(site: Site, package: Package) -> None:
    anchor = f'<a href="/files/{package.wheel_name}#sha256={package.sha256}" data-x>{package.wheel_name}</a>'
    site.files["/simple/tiny-model/"] = f"<!DOCTYPE html><html><body>{anchor}</body></html>".encode()
    site.kinds["/simple/tiny-model/"] = "text/html; charset=utf-8"
    assert find(package, f"{site.url}/simple") == f"{site.url}/files/{package.wheel_name}"


def test_index_on_disk_and_folder_of_files(tmp_path: Path, package: Package) -> None:
    page = tmp_path / "simple" / "tiny-model"
    page.mkdir(parents=True)
    (page / "index.html").write_text(f'<a href="../../files/{package.wheel_name}">x</a>')
    assert find(package, (tmp_path / "simple").as_uri()) == (tmp_path / "files" / package.wheel_name).as_uri()
    folder = tmp_path / "wheels here"
    folder.mkdir()
    (folder / package.wheel_name).write_bytes(b"")
    expected = (folder / package.wheel_name).as_uri()
    assert find(package, find_links=(str(folder),)) == expected
    assert find(package, find_links=(folder.as_uri(),)) == expected


def test_a_file_with_another_hash_is_passed_over_for_the_right_one(site: Site, package: Package) -> None:
    serve(site, package_of(b"other"))
    site.files["/simple2/tiny-model/"] = f'<a href="/good/{package.wheel_name}#sha256={package.sha256}">x</a>'.encode()
    assert find(package, f"{site.url}/simple", f"{site.url}/simple2") == f"{site.url}/good/{package.wheel_name}"


def test_a_place_that_is_down_does_not_hide_the_next(site: Site, package: Package) -> None:
    serve(site, package)
    assert find(package, "http://127.0.0.1:1/simple", f"{site.url}/simple").startswith(site.url)


def test_no_network(package: Package) -> None:
    with pytest.raises(MedusaError, match=r"cannot be reached: 127\.0\.0\.1 \(no connection\): check the network"):
        find(package, "http://127.0.0.1:1/simple")


def test_package_missing_names_the_places_without_passwords(site: Site, package: Package) -> None:
    with pytest.raises(MedusaError) as refused:
        find(package, site.url.replace("//", "//me:secret@") + "/simple")
    assert f"{site.url}/simple/tiny-model/" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_no_index_at_all(package: Package) -> None:
    with pytest.raises(MedusaError, match="no-index"):
        find(package)


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"files": [1]}', '{"files": [{"url": "x"}]}'])
def test_a_senseless_page_lists_nothing(body: str) -> None:
    assert links(body, "application/vnd.pypi.simple.v1+json", "http://x/") == []


def test_shown_hides_user_and_password_only() -> None:
    assert shown("https://u:p@example.org:8080/a?b") == "https://example.org:8080/a?b"
    assert shown("/some/folder") == "/some/folder"


def pip_answers(monkeypatch: pytest.MonkeyPatch, listing: str) -> None:
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setattr(pip_config, "_listing", lambda: listing)


def test_pip_configuration_and_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    listing = (
        "global.index-url='https://global.example/simple'\nglobal.find-links='/a /b'\nglobal.cert='/c.pem'\n"
        "download.index-url='https://download.example/simple'\ninstall.index-url='https://install.example/simple'\n"
        "global.extra-index-url='\\nhttps://one.example\\nhttps://two.example'\n"
    )
    pip_answers(monkeypatch, listing)
    indexes = ("https://download.example/simple", "https://one.example", "https://two.example")
    assert pip_places() == Places(("/a", "/b"), indexes, "/c.pem")
    monkeypatch.setenv("PIP_INDEX_URL", "https://env.example/simple")
    assert pip_places().indexes[0] == "https://env.example/simple"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert pip_places().indexes == ()


def test_without_configuration_the_public_index(monkeypatch: pytest.MonkeyPatch) -> None:
    pip_answers(monkeypatch, "")
    assert pip_places() == Places((), (PUBLIC_INDEX,), None)


def test_pip_itself_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = https://mirror.example/it's/simple\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    assert pip_places().indexes[0] == "https://mirror.example/it's/simple"
