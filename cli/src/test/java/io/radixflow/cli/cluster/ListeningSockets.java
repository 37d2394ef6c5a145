package io.radixflow.cli.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The TCP addresses at which a process listens, from Linux's {@code /proc}: {@code net/tcp} and
 * {@code net/tcp6} list sockets by inode, {@code fd} says which inodes are the process's.
 */
public final class ListeningSockets {

  private static final Pattern SOCKET = Pattern.compile("socket:\\[(\\d+)]");
  private static final String LISTEN = "0A";
  private static final int LOCAL_ADDRESS = 1;
  private static final int STATE = 3;
  private static final int INODE = 9;

  private ListeningSockets() {}

  /** Addresses at which the process listens; none if it is gone. */
  public static List<InetSocketAddress> of(long pid) throws IOException {
    Path process = Path.of("/proc", String.valueOf(pid));
    Set<String> inodes = inodes(process.resolve("fd"));
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (String table : List.of("net/tcp", "net/tcp6")) {
      for (String line : Files.readAllLines(process.resolve(table))) {
        String[] fields = line.trim().split("\\s+");
        if (fields[STATE].equals(LISTEN) && inodes.contains(fields[INODE])) {
          addresses.add(address(fields[LOCAL_ADDRESS]));
        }
      }
    }
    return addresses;
  }

  private static Set<String> inodes(Path descriptors) throws IOException {
    Set<String> inodes = new HashSet<>();
    try (Stream<Path> all = Files.list(descriptors)) {
      for (Path descriptor : (Iterable<Path>) all::iterator) {
        Matcher matcher = SOCKET.matcher(target(descriptor));
        if (matcher.matches()) {
          inodes.add(matcher.group(1));
        }
      }
    }
    return inodes;
  }

  private static String target(Path descriptor) throws IOException {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (NoSuchFileException closedMeanwhile) {
      return "";
    }
  }

  /** The kernel prints an address as 32-bit words in the machine's byte order. */
  private static InetSocketAddress address(String text) {
    int colon = text.indexOf(':');
    byte[] words = HexFormat.of().parseHex(text.substring(0, colon));
    ByteBuffer out = ByteBuffer.allocate(words.length);
    ByteBuffer in = ByteBuffer.wrap(words).order(ByteOrder.nativeOrder());
    while (in.hasRemaining()) {
      out.putInt(in.getInt());
    }
    int port = Integer.parseInt(text.substring(colon + 1), 16);
    try {
      return new InetSocketAddress(InetAddress.getByAddress(out.array()), port);
    } catch (UnknownHostException e) {
      throw new UncheckedIOException(e);
    }
  }
}
