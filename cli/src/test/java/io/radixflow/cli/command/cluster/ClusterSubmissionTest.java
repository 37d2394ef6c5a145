package io.radixflow.cli.command.cluster;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.radixflow.cli.command.common.CliException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.flink.api.common.JobStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Waiting for a job, against a JobManager that says what a test wants. */
class ClusterSubmissionTest {
  private static final String JOB = "0123456789abcdef0123456789abcdef";

  private static final String DETAILS =
      """
      {"jid": "JOB", "name": "radixflow", "isStoppable": false, "state": "STATE",
       "job-type": "STREAMING", "schedulerType": "Default", "start-time": 0, "end-time": -1,
       "duration": 0, "maxParallelism": -1, "now": 0, "timestamps": {}, "vertices": [],
       "status-counts": {}, "plan": {"jid": "JOB", "name": "radixflow", "type": "STREAMING",
       "nodes": []}, "pending-operators": 0}
      """;

  private static final String RESULT =
      """
      {"status": {"id": "COMPLETED"}, "job-execution-result": {"id": "JOB",
       "application-status": "FAILED", "accumulator-results": {}, "net-runtime": 0}}
      """;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Queue<JobStatus> states = new ArrayDeque<>();
  private HttpServer jobManager;

  @BeforeEach
  void start() throws IOException {
    jobManager = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    jobManager.setExecutor(threads);
    jobManager.createContext("/", this::answer);
    jobManager.start();
  }

  @AfterEach
  void stop() {
    jobManager.stop(0);
    threads.shutdownNow();
  }

  @Test
  void aJobThatIsStillBeingSetUpDoesNotRunYet() {
    states.addAll(List.of(JobStatus.INITIALIZING, JobStatus.CREATED, JobStatus.FAILED));

    assertThatThrownBy(() -> submission().awaitRunning(JOB))
        .isInstanceOf(CliException.class)
        .hasMessage("job " + JOB + " ended as FAILED: no cause given");
  }

  private ClusterSubmission submission() {
    return new ClusterSubmission("127.0.0.1:" + jobManager.getAddress().getPort());
  }

  /** A job in the next of the states, without vertices, as it is before its graph is built. */
  private void answer(HttpExchange exchange) throws IOException {
    String body =
        exchange.getRequestURI().getPath().endsWith("/execution-result")
            ? RESULT
            : DETAILS.replace("STATE", states.remove().toString());
    byte[] bytes = body.replace("JOB", JOB).getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, bytes.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(bytes);
    }
  }
}
