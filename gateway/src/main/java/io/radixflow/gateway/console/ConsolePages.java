package io.radixflow.gateway.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Routes;
import io.vertx.core.http.HttpMethod;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The pages of the console and what they load: a fixed set of files, each a route of its own. They
 * are served without an API key and hold no data.
 */
public final class ConsolePages implements EndpointGroup {

  private static final String ROOT = "/console/";

  /** Paths of the pages, and the resource with the main part of each. */
  private static final Map<String, String> PAGES = Map.of("/", "chat.html", "/live", "live.html");

  /** The files that the pages load. */
  static final List<String> FILES =
      List.of(
          "base.css",
          "base.js",
          "chat.css",
          "chat.js",
          "chats.js",
          "icon.svg",
          "live.css",
          "live.js",
          "live-chart.js",
          "live-tree.js",
          "markdown.js",
          "replies.js",
          "theme.js",
          "tree.js",
          "turns.js");

  private static final String MARKED = "/META-INF/maven/org.webjars.npm/marked/pom.properties";
  private static final Pattern VERSION = Pattern.compile("(?m)^version=(\\S+)");

  private final Map<String, StaticFile> files = new TreeMap<>();

  /** Reads all files. */
  public ConsolePages() {
    String frame = StaticFile.read(ROOT + "frame.html");
    PAGES.forEach((path, page) -> files.put(path, new StaticFile(page, page(frame, path, page))));
    for (String name : FILES) {
      files.put(ROOT + name, new StaticFile(name, StaticFile.read(ROOT + name).getBytes(UTF_8)));
    }
    files.put(ROOT + "lib/marked.js", new StaticFile("marked.js", marked().getBytes(UTF_8)));
  }

  /** Puts the page into the frame that all pages have, and marks its link there. */
  private static byte[] page(String frame, String path, String page) {
    return frame
        .replace("<!--main-->", StaticFile.read(ROOT + page).strip())
        .replace("<!--name-->", page.replace(".html", ""))
        .replace("<a href=\"" + path + "\"", "<a aria-current=\"page\" href=\"" + path + "\"")
        .getBytes(UTF_8);
  }

  /** The parser of Markdown, from its WebJar; its source map is not there. */
  private static String marked() {
    Matcher version = VERSION.matcher(StaticFile.read(MARKED));
    if (!version.find()) {
      throw new IllegalStateException(MARKED + " has no version");
    }
    return StaticFile.read(
            "/META-INF/resources/webjars/marked/" + version.group(1) + "/lib/marked.esm.js")
        .replaceFirst("(?m)^//# sourceMappingURL=.*$", "");
  }

  @Override
  public void addTo(Routes routes) {
    files.forEach((path, file) -> routes.addOpen(HttpMethod.GET, path, file::serve));
  }
}
