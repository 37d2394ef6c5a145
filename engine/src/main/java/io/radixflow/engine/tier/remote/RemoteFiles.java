package io.radixflow.engine.tier.remote;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Objects of a file system that all hosts reach, named by paths with slashes. Buffers have arrays.
 * Safe for several threads.
 */
public interface RemoteFiles extends AutoCloseable {

  /** Returns whether there is an object. */
  boolean exists(String name) throws IOException;

  /**
   * Reads an object from its beginning until it ends or the buffer is full.
   *
   * @return how many bytes were read
   * @throws java.nio.file.NoSuchFileException if there is none
   */
  int read(String name, ByteBuffer into) throws IOException;

  /**
   * Creates an object. One that is there already may stay or be replaced: objects of one name have
   * one content. It should appear whole; where it does not, readers see that.
   */
  void create(String name, ByteBuffer bytes) throws IOException;

  /** Deletes an object if it is there. */
  void delete(String name) throws IOException;

  /** Lists the objects in a folder; none if there is no such folder. */
  List<RemoteObject> list(String folder) throws IOException;

  /** Deletes a folder and all in it if it is there. */
  void deleteFolder(String folder) throws IOException;

  @Override
  void close() throws IOException;
}
