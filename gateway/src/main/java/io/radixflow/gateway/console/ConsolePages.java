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
 * The pages of the console and the files that they load. Each file of this fixed set has its own
 * route. The routes need no API key, and the files contain no data.
 */
public final class ConsolePages implements EndpointGroup {

  private static final String ROOT = "/console/";

  /** The resource with the main part of each page, by the path of the page. */
  private static final Map<String, String> PAGES = Map.of("/", "chat.html", "/live", "live.html");

  /** The files that the pages load. */
  static final List<String> FILES =
      List.of(
          """
          base.css base.js chat.css chat.js chats.js icon.svg listed.js live.css live.js
          live-chart.js live-tree.js markdown.js notation.js replies.js settings.js theme.js
          transfer.js tree.js turns.js
          """
              .split("\\s+"));

  /** A JavaScript library of the console, from its WebJar. */
  private record Library(String group, String name, String file, String export) {

    /** Returns the library's text as a module with a default export, without its source map. */
    String module() {
      String properties = "/META-INF/maven/" + group + "/" + name + "/pom.properties";
      Matcher version = VERSION.matcher(StaticFile.read(properties));
      if (!version.find()) {
        throw new IllegalStateException(properties + " has no version");
      }
      String folder = "/META-INF/resources/webjars/" + name + "/" + version.group(1) + "/";
      return StaticFile.read(folder + file).replaceFirst("(?m)^//# sourceMappingURL=.*$", "")
          + export;
    }
  }

  private static final List<Library> LIBRARIES =
      List.of(
          new Library("org.webjars.npm", "marked", "lib/marked.esm.js", ""),
          new Library(
              "org.webjars.npm", "katex", "dist/katex.min.js", "\nexport default self.katex;\n"),
          new Library(
              "org.webjars", "highlightjs", "highlight.min.js", "\nexport default hljs;\n"));

  private static final Pattern VERSION = Pattern.compile("(?m)^version=(\\S+)");

  private final Map<String, StaticFile> files = new TreeMap<>();

  /** Reads all files. */
  public ConsolePages() {
    String frame = StaticFile.read(ROOT + "frame.html");
    PAGES.forEach((path, page) -> files.put(path, new StaticFile(page, page(frame, path, page))));
    for (String name : FILES) {
      files.put(ROOT + name, new StaticFile(name, StaticFile.read(ROOT + name).getBytes(UTF_8)));
    }
    for (Library library : LIBRARIES) {
      String name = library.name() + ".js";
      files.put(ROOT + "lib/" + name, new StaticFile(name, library.module().getBytes(UTF_8)));
    }
  }

  /** Puts the page into the common frame, and marks the page's link there. */
  private static byte[] page(String frame, String path, String page) {
    return frame
        .replace("<!--main-->", StaticFile.read(ROOT + page).strip())
        .replace("<!--name-->", page.replace(".html", ""))
        .replace("<a href=\"" + path + "\"", "<a aria-current=\"page\" href=\"" + path + "\"")
        .getBytes(UTF_8);
  }

  @Override
  public void addTo(Routes routes) {
    files.forEach((path, file) -> routes.addOpen(HttpMethod.GET, path, file::serve));
  }
}
