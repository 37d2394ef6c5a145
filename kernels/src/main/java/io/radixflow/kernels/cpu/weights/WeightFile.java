package io.radixflow.kernels.cpu.weights;

import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.NativeMemory;
import io.radixflow.kernels.device.Uninterruptibly;
import io.radixflow.models.Sha256;
import io.radixflow.models.WeightSource;
import io.radixflow.models.io.LockFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file with the repacked weights of one model. A head has the magic, the key, the size and a
 * checksum for each piece of the body, and its own checksum. The body is the native memory of the
 * panels. The key is made of the source's fingerprint, the version of the layout and the forms and
 * sizes of all matrices.
 *
 * <p>The file is written under a temporary name, made durable and renamed. A reader maps it and
 * checks all sums first.
 */
public final class WeightFile {

  /** Part of the key. Change it whenever panels change. */
  public static final int LAYOUT_VERSION = 1;

  private static final Logger LOG = LoggerFactory.getLogger(WeightFile.class);
  private static final long MAGIC = 0x73746867_69657752L;
  private static final int KEY_BYTES = 64;
  private static final int HEAD_BYTES = 8 + KEY_BYTES + 8;
  private static final long PIECE = 4 << 20;

  /** The body begins at a multiple of the size of a huge page. */
  private static final long PAGE = 2 << 20;

  /** The largest nice value. */
  private static final int LEAST_PRIORITY = 19;

  private static final long LOCK_POLL_MILLIS = 100;

  private final WeightFiles files;
  private final Path path;
  private final String key;
  private final long bytes;

  /** Runs tasks in parallel and waits for them. */
  @FunctionalInterface
  public interface Tasks {

    /** Calls the task with each number from 0 to before {@code count}. */
    void run(int count, IntConsumer task);
  }

  /**
   * @param layout the forms and sizes of all matrices
   * @param bytes size of the body, a multiple of 64
   */
  public WeightFile(WeightFiles files, WeightSource source, String layout, long bytes) {
    this.files = files;
    this.bytes = bytes;
    String content = String.join("|", source.fingerprint(), "layout " + LAYOUT_VERSION, layout);
    key = HexFormat.of().formatHex(Sha256.of(content.getBytes(StandardCharsets.UTF_8)));
    String name = source.config().name().replaceAll("[^A-Za-z0-9.]+", "-");
    path = files.path(name.substring(0, Math.min(64, name.length())) + "-" + key.substring(0, 16));
  }

  /** Where the body begins. */
  public long bodyAt() {
    long head = HEAD_BYTES + 8L * pieces() + 4;
    return (head + PAGE - 1) / PAGE * PAGE;
  }

  private int pieces() {
    return Math.toIntExact((bytes + PIECE - 1) / PIECE);
  }

  private long pieceBytes(int piece) {
    return Math.min(PIECE, bytes - piece * PIECE);
  }

  /**
   * Maps the file and checks it.
   *
   * @return the whole file; null if there is none or it is damaged
   */
  public NativeMemory open(Tasks tasks) {
    NativeMemory mapped = null;
    try {
      mapped = NativeMemory.map(path);
      if (isValid(mapped, tasks)) {
        LOG.info("Weights are mapped from {}", path);
        NativeMemory valid = mapped;
        mapped = null;
        return valid;
      }
      LOG.warn("{} is damaged; it will be written again", path);
    } catch (NoSuchFileException e) {
      LOG.debug("There is no {}", path);
    } catch (IOException e) {
      LOG.warn("Cannot use a file of weights: {}", e.toString());
    } finally {
      if (mapped != null) {
        mapped.close();
      }
    }
    return null;
  }

  private boolean isValid(NativeMemory mapped, Tasks tasks) {
    if (mapped.bytes() != bodyAt() + bytes) {
      return false;
    }
    ByteBuffer head = mapped.buffer(0, (int) bodyAt());
    long[] sums = new long[pieces()];
    head.position(HEAD_BYTES).asLongBuffer().get(sums);
    if (!head.rewind().equals(head(sums))) {
      return false;
    }
    AtomicBoolean same = new AtomicBoolean(true);
    tasks.run(
        sums.length,
        piece -> {
          if (same.get() && sum(mapped, bodyAt(), piece) != sums[piece]) {
            same.set(false);
          }
        });
    return same.get() && mapped.isIntact();
  }

  private long sum(NativeMemory memory, long body, int piece) {
    return memory.checksum(body + piece * PIECE, pieceBytes(piece));
  }

  private ByteBuffer head(long[] sums) {
    ByteBuffer head = ByteBuffer.allocate((int) bodyAt()).order(ByteOrder.nativeOrder());
    head.putLong(MAGIC).put(key.getBytes(StandardCharsets.US_ASCII)).putLong(bytes);
    for (long sum : sums) {
      head.putLong(sum);
    }
    CRC32C sum = new CRC32C();
    sum.update(head.duplicate().flip());
    return head.putInt((int) sum.getValue()).rewind();
  }

  /**
   * Writes the file in a thread of its own and then maps it over the memory. If that is not
   * possible, the log says why and the memory stays as it is.
   *
   * @param body complete panels, which no thread changes from now on
   */
  public Save save(NativeMemory body) {
    Save save = new Save(body);
    save.thread.start();
    return save;
  }

  /** A file that is being written. */
  public final class Save implements AutoCloseable {

    /** How long {@link #close} waits for the file. */
    private static final long PATIENCE_MILLIS = 30_000;

    private final NativeMemory body;
    private final Thread thread = new Thread(this::run, "radixflow-weights");

    private Save(NativeMemory body) {
      this.body = body;
      thread.setDaemon(true);
    }

    private void run() {
      NativeKernels.deferToOthers(LEAST_PRIORITY);
      try (LockFile lock = lock()) {
        if (!Files.exists(path) || !adopt()) {
          write(body);
          adopt();
        }
      } catch (InterruptedException | ClosedByInterruptException e) {
        LOG.info("The weights were closed before {} was written", path);
      } catch (IOException | RuntimeException e) {
        LOG.warn("Weights stay in the memory of this process: {}", e.toString());
      }
    }

    private LockFile lock() throws IOException, InterruptedException {
      for (LockFile lock; ; Thread.sleep(LOCK_POLL_MILLIS)) {
        if ((lock = files.tryLock()) != null) {
          return lock;
        }
      }
    }

    private boolean adopt() {
      NativeMemory mapped = open(WeightFile::inTurn);
      if (mapped == null) {
        return false;
      }
      if (!body.replace(mapped, bodyAt())) {
        mapped.close();
      }
      return true;
    }

    /** Waits until the file is written, but gives up after half a minute. */
    @Override
    public void close() {
      try {
        thread.join(PATIENCE_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      thread.interrupt();
      Uninterruptibly.await(thread::join);
    }
  }

  private static void inTurn(int count, IntConsumer task) {
    for (int i = 0; i < count; i++) {
      task.accept(i);
    }
  }

  private void write(NativeMemory body) throws IOException {
    files.makeRoom(path, bodyAt() + bytes);
    Path temporary = files.createTemporary();
    try {
      try (FileChannel channel = files.openTemporary(temporary)) {
        long[] sums = new long[pieces()];
        for (int piece = 0; piece < sums.length; piece++) {
          sums[piece] = sum(body, 0, piece);
          write(channel, body.buffer(piece * PIECE, (int) pieceBytes(piece)), piece);
        }
        write(channel, head(sums), -1);
        channel.force(true);
      }
      Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
      files.force();
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  private void write(FileChannel channel, ByteBuffer piece, int number) throws IOException {
    long at = number < 0 ? 0 : bodyAt() + number * PIECE;
    while (piece.hasRemaining()) {
      at += channel.write(piece, at);
    }
  }
}
