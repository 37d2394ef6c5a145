package io.radixflow.lab.drill;

import io.radixflow.cli.cluster.ProcessCluster;
import io.radixflow.cli.cluster.Waiting;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.jobs.config.TierConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;

/** Faults of the tiers below the device, while the job runs. */
record TierFaults(ProcessCluster cluster, Settings settings, SplittableRandom random) {
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final String PAGES = ".blob";

  /** About one byte in this many is changed. */
  private static final int SOUND_BYTES = 2048;

  /** Switches host memory and disk by control events; at the end they are as configured. */
  void switchAll() throws IOException, InterruptedException {
    long half = settings.get(TierConfig.HOST_MEMORY).getBytes() / 2;
    try (ConversationClient client = new ConversationClient(settings)) {
      command(client, "flush", "host", null);
      command(client, "detach", "disk", null);
      command(client, "resize", "host", Long.toString(half));
      command(client, "attach", "disk", null);
      command(client, "flush", "disk", null);
      command(client, "resize", "host", null);
    }
  }

  /** Sends a command and waits until a TaskManager has carried it out. */
  private void command(ConversationClient client, String action, String tier, String size)
      throws IOException, InterruptedException {
    String sized = size == null ? "" : ", \"size\": \"" + size + "\"";
    String event =
        "{\"type\": \"tiers\", \"action\": \"%s\", \"tier\": \"%s\"%s}"
            .formatted(action, tier, sized);
    Path logs = cluster.directory().resolve("log");
    String answer = "Control event '" + action + " " + tier;
    int before = Logs.countAll(logs, answer);
    String topic = settings.get(KafkaConfig.CONTROL_TOPIC);
    try {
      client.send(topic, null, event.getBytes(StandardCharsets.UTF_8)).get();
    } catch (ExecutionException e) {
      throw new IOException("cannot send " + event, e.getCause());
    }
    Waiting.until(action + " of the " + tier, LIMIT, () -> Logs.countAll(logs, answer) > before);
  }

  /**
   * Changes bytes of files with pages, even while engines have them open.
   *
   * @return number of changed bytes
   */
  int damage() throws IOException {
    List<Path> files = new ArrayList<>();
    for (Path file : files(DrillTiers.disks(cluster.directory()))) {
      if (file.getFileName().toString().endsWith(PAGES)) {
        files.add(file);
      }
    }
    files.addAll(files(DrillTiers.remote(cluster.directory())));
    int changed = 0;
    for (Path file : files) {
      changed += damage(file);
    }
    return changed;
  }

  private int damage(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      int changed = 0;
      for (long at = random.nextInt(SOUND_BYTES);
          at < channel.size();
          at += random.nextInt(2 * SOUND_BYTES)) {
        ByteBuffer one = ByteBuffer.allocate(1);
        if (channel.read(one, at) == 1) {
          one.put(0, (byte) ~one.get(0));
          channel.write(one.flip(), at);
          changed++;
        }
      }
      return changed;
    } catch (NoSuchFileException e) {
      // the engine has deleted the file meanwhile
      return 0;
    }
  }

  /** Returns all existing files; they may be deleted before they are opened. */
  private static List<Path> files(Path directory) throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            files.add(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE;
          }
        });
    return files;
  }
}
