package io.radixflow.models.hub;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.file.format.BoundedJson;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The two requests to the Hugging Face hub that a download needs: the files of a repository with
 * their hashes, and the rest of a file after an offset. The hub's answers are checked.
 */
final class HubClient {
  private static final int MAX_LISTING_BYTES = 1 << 22;
  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final Duration ANSWER = Duration.ofSeconds(30);

  /**
   * A repository at one commit.
   *
   * @param commit 40 hexadecimal digits
   * @param files the files whose names {@link HubFile#isPlain} accepts
   */
  record Listing(String commit, List<HubFile> files) {}

  private final URI base;
  private final HttpClient client;

  HubClient(URI base) {
    this.base = base;
    client =
        HttpClient.newBuilder()
            .connectTimeout(CONNECT)
            .followRedirects(HttpClient.Redirect.NORMAL)
            .build();
  }

  /** The hub's host, for messages. */
  String host() {
    return base.getHost();
  }

  Listing list(HubName name) throws IOException, InterruptedException {
    String path =
        "/api/models/" + name.repository() + "/revision/" + name.revision() + "?blobs=true";
    HttpResponse<InputStream> response = get(path, 0);
    try (InputStream body = response.body()) {
      if (response.statusCode() != 200) {
        throw new HubException(refusal(name, response.statusCode()));
      }
      byte[] bytes = body.readNBytes(MAX_LISTING_BYTES + 1);
      if (bytes.length > MAX_LISTING_BYTES) {
        throw new HubException("its list of files is longer than " + MAX_LISTING_BYTES + " bytes");
      }
      return listing(BoundedJson.object(bytes, host()));
    } catch (HubException e) {
      throw e;
    } catch (IOException e) {
      throw new HubException("the connection broke: " + e.getMessage());
    } catch (ModelFormatException e) {
      throw new HubException("its list of files is not valid: " + e.getMessage());
    }
  }

  private static Listing listing(JsonNode json) throws HubException {
    String commit = json.path("sha").asText();
    if (!commit.matches("[0-9a-f]{40}")) {
      throw new HubException("its list of files has no commit");
    }
    List<HubFile> files = new ArrayList<>();
    for (JsonNode node : json.path("siblings")) {
      String name = node.path("rfilename").asText();
      JsonNode large = node.path("lfs");
      String hash = large.isObject() ? large.path("sha256").asText() : node.path("blobId").asText();
      long size = large.isObject() ? large.path("size").asLong(-1) : node.path("size").asLong(-1);
      if (HubFile.isPlain(name) && size > 0 && hash.matches("[0-9a-f]{40}|[0-9a-f]{64}")) {
        files.add(new HubFile(name, size, hash));
      }
    }
    return new Listing(commit, files);
  }

  private static String refusal(HubName name, int status) {
    return switch (status) {
      case 401, 403 ->
          name.repository()
              + " does not exist or requires a login; download it manually and give its path";
      case 404 -> "there is no model " + name.repository() + name.suffix();
      case 429 -> "it limits requests; try again later (429)";
      default -> "it answered with status " + status;
    };
  }

  /**
   * Requests the content of a file from byte {@code from} on. The status is 200 (from the start),
   * 206 or an error.
   */
  HttpResponse<InputStream> content(HubName name, String commit, HubFile file, long from)
      throws IOException, InterruptedException {
    return get("/" + name.repository() + "/resolve/" + commit + "/" + file.name(), from);
  }

  private HttpResponse<InputStream> get(String path, long from)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path)).timeout(ANSWER);
    request.header("User-Agent", "radixflow");
    if (from > 0) {
      request.header("Range", "bytes=" + from + "-");
    }
    try {
      return client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    } catch (HttpTimeoutException e) {
      throw new HubException("it does not answer");
    } catch (ConnectException e) {
      throw new HubException("it cannot be reached");
    } catch (IOException e) {
      throw new HubException("the connection failed: " + e.getMessage());
    }
  }
}
