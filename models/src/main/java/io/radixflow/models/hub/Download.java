package io.radixflow.models.hub;

import io.radixflow.models.ModelProgress;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Fetches one file of the hub. Bytes are written to {@code FILE.HASH.part}, which a later attempt
 * continues. The file gets its final name after its hash was checked. A file with a wrong hash is
 * deleted.
 */
final class Download {
  private static final int MAX_ATTEMPTS = 100;

  private static final Duration STALL = Duration.ofSeconds(60);

  private final HubClient hub;
  private final ModelProgress progress;
  private final Duration stall;
  private final LongSupplier nanoTime;

  Download(HubClient hub, ModelProgress progress) {
    this(hub, progress, STALL, System::nanoTime);
  }

  /**
   * @param stall how long a connection may deliver no bytes before it counts as broken
   * @param nanoTime the clock
   */
  Download(HubClient hub, ModelProgress progress, Duration stall, LongSupplier nanoTime) {
    this.hub = hub;
    this.progress = progress;
    this.stall = stall;
    this.nanoTime = nanoTime;
  }

  /**
   * Fetches the file to {@code directory/file.name()}. Keeps a file that is already there and has
   * the right hash.
   */
  void fetch(HubName name, String commit, HubFile file, Path directory)
      throws IOException, InterruptedException {
    Path target = directory.resolve(file.name());
    if (Files.isRegularFile(target) && matches(target, file)) {
      return;
    }
    Path part = part(directory, file);
    Files.createDirectories(part.getParent());
    long done = size(part);
    if (done > file.size()) {
      Files.delete(part);
      done = 0;
    }
    progress.begin(file.name(), file.size(), done);
    try {
      gather(name, commit, file, part);
    } finally {
      progress.end();
    }
    if (!matches(part, file)) {
      Files.delete(part);
      throw new HubException(file.name() + " had a wrong hash and was deleted; try again");
    }
    Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static boolean matches(Path path, HubFile file) throws IOException {
    return Files.size(path) == file.size()
        && FileHashes.of(path, file.isGitBlob()).equals(file.hash());
  }

  private static long size(Path part) throws IOException {
    return Files.exists(part) ? Files.size(part) : 0;
  }

  private static Path part(Path directory, HubFile file) {
    return directory.resolve(file.name() + "." + file.hash().substring(0, 12) + ".part");
  }

  /** Checks that the disk has room for files. Bytes that are already there are not counted. */
  static void room(Path directory, List<HubFile> files) throws IOException {
    long bytes = 0;
    for (HubFile file : files) {
      long there = Math.max(size(directory.resolve(file.name())), size(part(directory, file)));
      bytes += Math.max(0, file.size() - there);
    }
    long free = Files.getFileStore(directory).getUsableSpace();
    if (free < bytes) {
      throw new ModelUnavailableException(
          directory + " has room for " + free + " bytes; the model needs " + bytes + " more");
    }
  }

  /** Continues after a broken connection as long as each attempt delivers bytes. */
  private void gather(HubName name, String commit, HubFile file, Path part)
      throws IOException, InterruptedException {
    for (int attempt = 0; size(part) < file.size(); attempt++) {
      long before = size(part);
      try {
        append(name, commit, file, part);
      } catch (HubException e) {
        throw e;
      } catch (IOException e) {
        if (size(part) <= before || attempt == MAX_ATTEMPTS) {
          throw new HubException("the connection broke: " + e.getMessage());
        }
      }
      if (size(part) == before) {
        throw new HubException("it ended " + file.name() + " after " + before + " bytes");
      }
    }
  }

  private void append(HubName name, String commit, HubFile file, Path part)
      throws IOException, InterruptedException {
    long from = size(part);
    HttpResponse<InputStream> response = hub.content(name, commit, file, from);
    try (InputStream body = response.body()) {
      if (response.statusCode() == 200 && from > 0) {
        Files.write(part, new byte[0], StandardOpenOption.TRUNCATE_EXISTING);
        progress.advance(-from);
        from = 0;
      } else if (response.statusCode() != 200 && response.statusCode() != 206) {
        throw new HubException(
            "it answered with status " + response.statusCode() + " for " + file.name());
      }
      if (response.statusCode() == 206 && !continues(response, from)) {
        throw new HubException("it sent another part of " + file.name() + " than requested");
      }
      try (OutputStream out =
              Files.newOutputStream(part, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
          StallWatchdog guard = new StallWatchdog(body, stall, nanoTime)) {
        copy(body, out, guard, file, file.size() - from);
      }
    }
  }

  private static boolean continues(HttpResponse<InputStream> response, long from) {
    String range = response.headers().firstValue("Content-Range").orElse("");
    return range.startsWith("bytes " + from + "-");
  }

  private void copy(
      InputStream body, OutputStream out, StallWatchdog guard, HubFile file, long expected)
      throws IOException {
    byte[] buffer = new byte[1 << 16];
    long left = expected;
    for (int read = body.read(buffer); read >= 0; read = body.read(buffer)) {
      if (read > left) {
        throw new HubException("it sent more bytes of " + file.name() + " than it announced");
      }
      out.write(buffer, 0, read);
      left -= read;
      guard.progressed();
      progress.advance(read);
    }
  }
}
