package io.radixflow.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscribers;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * An HTTP client that checks every answer, and every server-sent event as it is read, against the
 * OpenAPI document. It collects the faults, so that the test's own assertions fail first.
 */
final class ContractClient {

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Queue<String> problems = new ConcurrentLinkedQueue<>();

  /** The errors so far. */
  Queue<String> problems() {
    return problems;
  }

  CompletableFuture<HttpResponse<String>> send(HttpRequest request) {
    return client.sendAsync(
        request,
        info ->
            BodySubscribers.mapping(
                BodySubscribers.ofString(UTF_8),
                text -> {
                  whole(answer(request, info), info, text);
                  return text;
                }));
  }

  CompletableFuture<HttpResponse<InputStream>> open(HttpRequest request) {
    return client.sendAsync(
        request,
        info ->
            BodySubscribers.mapping(
                BodySubscribers.ofInputStream(),
                body -> new Checked(body, answer(request, info), isStream(info))));
  }

  private Contract.Answer answer(HttpRequest request, HttpResponse.ResponseInfo info) {
    try {
      return Contract.get()
          .answer(
              request.method(),
              request.uri().getPath(),
              info.statusCode(),
              info.headers().firstValue("content-type").orElse(null));
    } catch (AssertionError e) {
      problems.add(e.getMessage());
      return null;
    }
  }

  private static boolean isStream(HttpResponse.ResponseInfo info) {
    return info.headers()
        .firstValue("content-type")
        .filter(type -> type.startsWith("text/event-stream"))
        .isPresent();
  }

  private void whole(Contract.Answer answer, HttpResponse.ResponseInfo info, String text) {
    if (answer == null) {
      return;
    }
    if (!isStream(info)) {
      if (!text.isEmpty()) {
        problems.addAll(answer.body(text));
      }
      return;
    }
    text.lines().forEach(line -> line(answer, line));
  }

  private void line(Contract.Answer answer, String line) {
    if (line.startsWith("data: ")) {
      problems.addAll(answer.event(line.substring(6)));
    } else if (!line.isEmpty() && !line.startsWith(":") && !line.startsWith("event: ")) {
      problems.add(answer.name() + ": the stream has the line " + line);
    }
  }

  /** Checks what a test reads, no more. */
  private final class Checked extends FilterInputStream {
    private final Contract.Answer answer;
    private final boolean stream;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();

    Checked(InputStream in, Contract.Answer answer, boolean stream) {
      super(in);
      this.answer = answer;
      this.stream = stream && answer != null;
    }

    @Override
    public int read() throws IOException {
      int next = super.read();
      if (next >= 0) {
        take((byte) next);
      }
      return next;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      int count = super.read(bytes, offset, length);
      for (int i = 0; i < count; i++) {
        take(bytes[offset + i]);
      }
      return count;
    }

    private void take(byte next) {
      if (!stream) {
        return;
      }
      if (next == '\n') {
        line(answer, line.toString(UTF_8));
        line.reset();
      } else {
        line.write(next);
      }
    }
  }
}
