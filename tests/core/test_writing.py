"""Files appear whole or not at all, whatever happens while they are written."""

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading

import pytest

from lvmkit.core.writing import replacing


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write(path, content=b"new", **options):
    with replacing(path, **options) as file:
        file.write(content)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_shared_files_get_the_usual_permissions_and_private_ones_are_their_owners(tmp_path):
    old = os.umask(0o027)
    try:
        write(tmp_path / "page")
        write(tmp_path / "model", private=True)
    finally:
        os.umask(old)
    assert (mode(tmp_path / "page"), mode(tmp_path / "model")) == (0o640, 0o600)
    (tmp_path / "page").chmod(0o604)
    write(tmp_path / "page")
    assert mode(tmp_path / "page") == 0o604


def test_a_link_that_was_named_is_written_through(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("there/file")
    (tmp_path / "dangling").symlink_to("there/absent")
    for name in ("link", "dangling"):
        write(tmp_path / name)
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / name).read_bytes() == b"new"
    assert names(tmp_path / "there") == ["absent", "file"]
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="a link that leads to itself"):
        write(tmp_path / "a")


def test_what_cannot_be_written_is_told_in_words(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError, match=r"folder': it is a folder; name a file in it"):
        write(tmp_path / "folder")
    with pytest.raises(FileNotFoundError, match=r"there is no folder '.*absent'"):
        write(tmp_path / "absent" / "x")
    with pytest.raises(OSError, match="is no folder"):
        write(tmp_path / "file" / "x")
    with pytest.raises(OSError, match="device or a pipe"):
        write(tmp_path / "pipe")
    with pytest.raises(OSError, match="name is too long"):
        write(tmp_path / ("x" * 300))
    write(tmp_path / ("é" * 127))  # 254 bytes: as long as names may be, and drafts have names too


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_may_only_be_read(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="you have no permission to write it"):
        write(tmp_path / "x")
    tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.EACCES, "you have no permission to write it"), (errno.EROFS, "the disk is read-only")],
)
def test_a_folder_that_refuses_keeps_the_old_file(tmp_path, monkeypatch, number, words):
    write(tmp_path / "x", b"old")

    def refused(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(OSError, match=f"cannot write .*x': {words}"):
        write(tmp_path / "x")
    monkeypatch.undo()
    assert (tmp_path / "x").read_bytes() == b"old"
    assert names(tmp_path) == ["x"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    write(tmp_path / "x", b"old")

    def interrupted():
        with replacing(tmp_path / "x") as file:
            file.write(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "x").read_bytes() == b"old"
    assert names(tmp_path) == ["x"]


def run(code, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


HANGING = """
    import sys, time
    from lvmkit.core.writing import replacing
    with replacing(sys.argv[1]) as file:
        file.write(b"half")
        print("begun", flush=True)
        time.sleep(600)
"""


def test_what_a_killed_process_left_is_deleted_and_what_a_living_one_writes_is_not(tmp_path):
    path = tmp_path / "x"
    write(path, b"old")
    dead, living = run(HANGING, path), run(HANGING, path)
    with dead, living:
        try:
            assert dead.stdout.readline() == living.stdout.readline() == "begun\n"
            dead.send_signal(signal.SIGKILL)
            dead.wait()
            assert len(names(tmp_path)) == 3
            assert path.read_bytes() == b"old"
            (tmp_path / ".lvmkit-notes.partial").write_text("mine")
            write(path)
            assert path.read_bytes() == b"new"
            assert len(names(tmp_path)) == 3  # the file, the note, and what still is being written
        finally:
            living.kill()
    write(path)
    assert names(tmp_path) == [".lvmkit-notes.partial", "x"]


def test_a_full_disk_keeps_the_old_file(tmp_path):
    path = tmp_path / "x"
    write(path, b"old")
    code = """
        import resource, sys
        from lvmkit.core.writing import replacing
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            with replacing(sys.argv[1]) as file:
                file.write(b"x" * 100_000)
        except OSError as error:
            print(error)
    """
    with run(code, path) as process:
        told, _ = process.communicate(timeout=60)
    assert "the disk is full" in told
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["x"]


def test_files_are_on_the_disk_before_they_take_their_place(tmp_path, monkeypatch):
    done = []
    replace, fsync = type(tmp_path).replace, os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda h: done.append(("sync", stat.S_ISDIR(os.fstat(h).st_mode))) or fsync(h)
    )
    monkeypatch.setattr(
        type(tmp_path), "replace", lambda a, b: done.append("replace") or replace(a, b)
    )
    write(tmp_path / "x")
    assert done == [("sync", False), "replace", ("sync", True)]

    def broken(handle):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output error"):
        write(tmp_path / "x", b"newer")
    assert (tmp_path / "x").read_bytes() == b"new"


def test_eight_threads_that_write_one_file_leave_one_whole_file(tmp_path):
    contents = [bytes([65 + n]) * 100_000 for n in range(8)]
    failures = []

    def often(content):
        try:
            for _ in range(20):
                write(tmp_path / "x", content)
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=often, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert (tmp_path / "x").read_bytes() in contents
    assert names(tmp_path) == ["x"]
