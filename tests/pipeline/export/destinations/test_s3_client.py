"""Clients of an S3 service: the descriptions of the service are read once a process."""

from botocore.loaders import JSONFileLoader, create_loader

from pipeline.export.destinations import s3_objects


def test_descriptions_of_the_service_are_read_once(monkeypatch):
    s3_objects.connect("http://127.0.0.1:9", 1)
    load_file, read = JSONFileLoader.load_file, []

    def counted(self, path):
        content = load_file(self, path)
        if content is not None:
            read.append(path)
        return content

    monkeypatch.setattr(JSONFileLoader, "load_file", counted)
    for _ in range(3):
        s3_objects.connect("http://127.0.0.1:9", 1)
    assert read == []
    places = create_loader().search_paths
    assert s3_objects._loader(None).search_paths == places, "clients leave nothing behind in what they share"
