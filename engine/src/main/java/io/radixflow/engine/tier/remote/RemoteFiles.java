package io.radixflow.engine.tier.remote;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Objects of a file system that all hosts reach. Their names are paths with slashes. Buffers must
 * be backed by arrays. Thread-safe.
 */
public interface RemoteFiles extends AutoCloseable {

  /** Returns whether there is an object. */
  boolean exists(String name) throws IOException;

  /**
   * Reads an object from its beginning until it ends or the buffer is full.
   *
   * @return how many bytes were read
   * @throws java.nio.file.NoSuchFileException if there is no such object
   */
  int read(String name, ByteBuffer into) throws IOException;

  /**
   * Creates an object. If the object exists, it may stay or be replaced: objects with the same name
   * always have the same content. Creation should be atomic; if it is not, readers detect a partial
   * object.
   */
  void create(String name, ByteBuffer bytes) throws IOException;

  /** Deletes an object if it exists. */
  void delete(String name) throws IOException;

  /** Lists the objects in a folder; none if there is no such folder. */
  List<RemoteObject> list(String folder) throws IOException;

  /** Deletes a folder and its contents if it exists. */
  void deleteFolder(String folder) throws IOException;

  @Override
  void close() throws IOException;
}
