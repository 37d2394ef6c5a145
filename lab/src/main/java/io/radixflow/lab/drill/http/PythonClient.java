package io.radixflow.lab.drill.http;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** OpenAI's Python client in its own process, which exchanges a line for each request and reply. */
public final class PythonClient extends HttpTarget {
  private static final String PYTHON = "python3";
  private static final String SCRIPT = "drill_client.py";
  private static final long CHECK_SECONDS = 60;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final Process process;
  private final BufferedWriter requests;
  private final BufferedReader replies;

  private PythonClient(Process process) {
    this.process = process;
    this.requests = process.outputWriter();
    this.replies = process.inputReader();
  }

  /**
   * Returns whether Python is available and finds OpenAI's client, which may be in {@code
   * PYTHONPATH}.
   */
  public static boolean isAvailable() throws InterruptedException {
    try {
      Process check =
          new ProcessBuilder(PYTHON, "-c", "import openai")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      try {
        return check.waitFor(CHECK_SECONDS, TimeUnit.SECONDS) && check.exitValue() == 0;
      } finally {
        check.destroyForcibly();
      }
    } catch (IOException none) {
      return false;
    }
  }

  /**
   * Starts a client.
   *
   * @param directory directory of the client's program and log
   */
  public static PythonClient start(List<URI> gateways, Path directory) throws IOException {
    Path script = directory.resolve(SCRIPT);
    try (InputStream program = PythonClient.class.getResourceAsStream(SCRIPT)) {
      Files.copy(program, script, StandardCopyOption.REPLACE_EXISTING);
    }
    List<String> command = new ArrayList<>(List.of(PYTHON, script.toString()));
    gateways.forEach(gateway -> command.add(gateway.toString()));
    Path log = directory.resolve("python-clients.log");
    return new PythonClient(
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start());
  }

  @Override
  Heard hear(HttpTurn turn) throws IOException {
    requests.write(MAPPER.writeValueAsString(turn));
    requests.newLine();
    requests.flush();
    String reply = replies.readLine();
    if (reply == null) {
      throw new IOException("OpenAI's Python client ended; see python-clients.log");
    }
    return MAPPER.readValue(reply, Heard.class);
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
    super.close();
  }
}
