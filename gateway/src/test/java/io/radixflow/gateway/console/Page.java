package io.radixflow.gateway.console;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** A page of the browser: what a user can do with it, and what can be seen of it. */
public final class Page {

  private static final int SHIFT = 8;

  /** Keys that are not letters, and their codes. */
  private static final Map<String, Integer> KEYS =
      Map.of(
          "Tab",
          9,
          "Enter",
          13,
          "Escape",
          27,
          " ",
          32,
          "ArrowLeft",
          37,
          "ArrowUp",
          38,
          "ArrowRight",
          39,
          "ArrowDown",
          40,
          "Home",
          36,
          "End",
          35);

  private final DevTools tools;
  private final String session;
  private final List<String> problems = new CopyOnWriteArrayList<>();
  private volatile CompletableFuture<Void> loaded = new CompletableFuture<>();

  Page(DevTools tools, String session) {
    this.tools = tools;
    this.session = session;
    tools.listen(session, this::event);
    for (String domain : List.of("Page", "Runtime", "Log")) {
      call(domain + ".enable", DevTools.parameters());
    }
    viewport(1280, 800);
  }

  private JsonNode call(String method, ObjectNode parameters) {
    return tools.call(session, method, parameters);
  }

  private void event(String method, JsonNode parameters) {
    switch (method) {
      case "Page.loadEventFired" -> loaded.complete(null);
      case "Runtime.exceptionThrown" ->
          problems.add(
              parameters.at("/exceptionDetails/exception/description").asText()
                  + parameters.at("/exceptionDetails/text").asText());
      case "Log.entryAdded" -> {
        JsonNode entry = parameters.get("entry");
        // answers with an error status are logged as network errors, and are the page's matter
        if (entry.get("level").textValue().equals("error")
            && !entry.get("source").textValue().equals("network")) {
          problems.add(entry.get("text").textValue());
        }
      }
      case "Runtime.consoleAPICalled" -> {
        if (parameters.get("type").textValue().equals("error")) {
          problems.add(parameters.get("args").toString());
        }
      }
      default -> {}
    }
  }

  /** Errors that the page has logged: uncaught exceptions and violations of its policy. */
  public List<String> problems() {
    return problems;
  }

  /** Goes to an address, and returns when the page and its scripts are loaded. */
  public void go(URI address) {
    loading("Page.navigate", DevTools.parameters().put("url", address.toString()));
  }

  /** Loads the page again. */
  public void reload() {
    loading("Page.reload", DevTools.parameters());
  }

  private void loading(String method, ObjectNode parameters) {
    loaded = new CompletableFuture<>();
    call(method, parameters);
    loaded.orTimeout(60, TimeUnit.SECONDS).join();
  }

  /** Evaluates an expression in the page, and waits for it if it is a promise. */
  public JsonNode eval(String expression) {
    ObjectNode parameters =
        DevTools.parameters()
            .put("expression", expression)
            .put("awaitPromise", true)
            .put("returnByValue", true);
    JsonNode result = call("Runtime.evaluate", parameters);
    if (result.has("exceptionDetails")) {
      throw new AssertionError(expression + ": " + result.get("exceptionDetails"));
    }
    return result.at("/result/value");
  }

  /** Waits until an expression is true; it is looked at again whenever the page changes. */
  public void await(String condition) {
    String script =
        """
        new Promise((resolve) => {
          const holds = () => { try { return !!(%s); } catch { return false; } };
          const end = (result) => { watch.disconnect(); clearInterval(poll); clearTimeout(limit); resolve(result); };
          const look = () => { if (holds()) end(""); };
          const watch = new MutationObserver(look);
          const poll = setInterval(look, 50);
          const limit = setTimeout(() => end(document.body.innerText), 50000);
          watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
          look();
        })
        """
            .formatted(condition);
    String shown = eval(script).asText();
    if (!shown.isEmpty()) {
      throw new AssertionError(condition + " does not become true; the page shows:\n" + shown);
    }
  }

  /** Waits until the page shows a text. */
  public void awaitText(String text) {
    await("document.body.innerText.includes(" + quoted(text) + ")");
  }

  /** The text of an element. */
  public String text(String selector) {
    return eval("document.querySelector(" + quoted(selector) + ").innerText").asText();
  }

  /** The number of elements that are there. */
  public int count(String selector) {
    return eval("document.querySelectorAll(" + quoted(selector) + ").length").asInt();
  }

  /** Waits for an element and clicks it. */
  public void click(String selector) {
    String element = "document.querySelector(" + quoted(selector) + ")";
    await(element + " && !" + element + ".disabled");
    eval(element + ".click()");
  }

  /** Types a text where the focus is. */
  public void type(String text) {
    call("Input.insertText", DevTools.parameters().put("text", text));
  }

  /** Presses a key by its name in {@code KeyboardEvent.key}, with or without {@code Shift+}. */
  public void press(String name) {
    boolean shift = name.startsWith("Shift+");
    String key = shift ? name.substring(6) : name;
    int code = KEYS.get(key);
    String text = key.equals("Enter") ? "\r" : key.equals(" ") ? " " : null;
    ObjectNode down =
        DevTools.parameters()
            .put("type", text == null ? "rawKeyDown" : "keyDown")
            .put("key", key)
            .put("code", key.equals(" ") ? "Space" : key)
            .put("windowsVirtualKeyCode", code)
            .put("modifiers", shift ? SHIFT : 0);
    call("Input.dispatchKeyEvent", text == null ? down : down.put("text", text));
    ObjectNode up = down.deepCopy().put("type", "keyUp");
    up.remove("text");
    call("Input.dispatchKeyEvent", up);
  }

  /** Presses Tab until an element has the focus; fails if that is not reached. */
  public void tabTo(String selector) {
    String reached =
        "!!document.activeElement && document.activeElement.matches(" + quoted(selector) + ")";
    for (int i = 0; i < 100; i++) {
      press("Tab");
      if (eval(reached).asBoolean()) {
        return;
      }
    }
    throw new AssertionError(selector + " cannot be reached with the keyboard");
  }

  /** Sets the size of the window, in CSS pixels. */
  public void viewport(int width, int height) {
    viewport(width, height, 1);
  }

  /** Sets the size of the window, in CSS pixels, and how many device pixels one of them has. */
  public void viewport(int width, int height, double scale) {
    call(
        "Emulation.setDeviceMetricsOverride",
        DevTools.parameters()
            .put("width", width)
            .put("height", height)
            .put("deviceScaleFactor", scale)
            .put("mobile", width < 500));
  }

  /** Has the system prefer dark or light pages. */
  public void prefers(String scheme) {
    ObjectNode parameters = DevTools.parameters();
    parameters
        .putArray("features")
        .addObject()
        .put("name", "prefers-color-scheme")
        .put("value", scheme);
    call("Emulation.setEmulatedMedia", parameters);
  }

  /** Violations of the accessibility rules that matter: an entry for each rule and element. */
  public List<String> accessibilityViolations() {
    try (var script = Page.class.getResourceAsStream("/axe.min.js")) {
      eval(new String(script.readAllBytes(), StandardCharsets.UTF_8) + ";0");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    JsonNode found =
        eval(
            """
            axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] })
              .then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html + " " + n.failureSummary)))
            """);
    return texts(found);
  }

  private static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(text -> texts.add(text.asText()));
    return texts;
  }

  /** Writes the visible part of the page as a PNG. */
  public void screenshot(Path file) {
    String data =
        call("Page.captureScreenshot", DevTools.parameters().put("format", "png"))
            .get("data")
            .textValue();
    try {
      Files.createDirectories(file.getParent());
      Files.write(file, Base64.getDecoder().decode(data));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The text as a literal of JavaScript. */
  public static String quoted(String text) {
    return new TextNode(text).toString();
  }
}
