package io.radixflow.operators.tier.remote;

import io.radixflow.operators.tier.store.KeyFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/**
 * Keys in a folder of a remote file system, where each name is a folder with an object for each
 * process that made one: file systems that tell nobody whether an object is there already lose
 * none.
 */
record RemoteKeyFiles(GuardedFiles files, String folder) implements KeyFiles {
  private static final int MAX_BYTES = 4096;
  private static final int MAX_FILES = 1024;
  private static final String KEY = ".key";

  private String folder(String name) {
    return folder + "/" + name;
  }

  @Override
  public List<byte[]> read(String name) throws IOException {
    List<String> objects =
        files.list(folder(name)).stream()
            .map(RemoteObject::name)
            .filter(object -> object.endsWith(KEY))
            .sorted()
            .toList();
    if (objects.size() > MAX_FILES) {
      throw new IOException("it has " + objects.size() + " keys");
    }
    List<byte[]> found = new ArrayList<>();
    for (String object : objects) {
      ByteBuffer into = ByteBuffer.allocate(MAX_BYTES);
      try {
        int length = files.read(folder(name) + "/" + object, into);
        found.add(Arrays.copyOf(into.array(), length));
      } catch (NoSuchFileException e) {
        // destroyed by another process meanwhile
      }
    }
    return found;
  }

  @Override
  public void write(String name, byte[] bytes) throws IOException {
    files.createToStay(folder(name) + "/" + UUID.randomUUID() + KEY, ByteBuffer.wrap(bytes));
  }

  @Override
  public void destroy(String name) throws IOException {
    files.deleteFolder(folder(name));
  }
}
