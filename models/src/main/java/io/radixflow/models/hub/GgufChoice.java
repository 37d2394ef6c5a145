package io.radixflow.models.hub;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The GGUF models of a repository. A model is one file, or the parts {@code
 * NAME-00001-of-00003.gguf} and so on. Files that accompany a model, such as an image projector, do
 * not count.
 */
final class GgufChoice {
  private static final int MAX_PARTS = 256;
  private static final int MAX_SHOWN = 30;
  private static final Pattern PART = Pattern.compile("(.*-)(\\d{5})-of-(\\d{5})\\.gguf");
  private static final Pattern BESIDE =
      Pattern.compile("(?i)(.*/)?(mmproj|imatrix)[^/]*|.*[-.]imatrix\\.gguf");

  private final HubName name;
  private final Map<String, HubFile> files = new LinkedHashMap<>();

  GgufChoice(HubName name, List<HubFile> listed) {
    this.name = name;
    listed.stream()
        .filter(file -> file.name().endsWith(".gguf"))
        .sorted(Comparator.comparing(HubFile::name))
        .forEach(file -> files.put(file.name(), file));
  }

  /**
   * Returns the names of all files of the model that {@code file} belongs to. The first file is the
   * one to open.
   */
  static List<String> parts(String file) {
    Matcher part = PART.matcher(file);
    int count = part.matches() ? Integer.parseInt(part.group(3)) : 0;
    if (count < 1 || count > MAX_PARTS) {
      return List.of(file);
    }
    List<String> names = new ArrayList<>();
    for (int number = 1; number <= count; number++) {
      names.add(String.format("%s%05d-of-%s.gguf", part.group(1), number, part.group(3)));
    }
    return names;
  }

  /**
   * Returns the files of the requested model, or of the only model.
   *
   * @throws HubException if there is no such model, or if there are several; the message lists the
   *     models with their sizes
   */
  List<HubFile> files() throws HubException {
    if (name.file() != null) {
      return whole(parts(name.file()));
    }
    List<List<String>> models = models();
    if (models.size() == 1) {
      return whole(models.get(0));
    }
    if (models.isEmpty()) {
      throw new HubException(
          files.isEmpty()
              ? name + " has neither safetensors with a config.json nor GGUF files"
              : name.repository() + " has no GGUF file of " + name.quantisation() + shown(all()));
    }
    throw new HubException(name + " has several models" + shown(models));
  }

  /** Returns the models with the requested quantisation; all models if none was requested. */
  private List<List<String>> models() {
    String asked = name.quantisation();
    if (asked == null) {
      return all();
    }
    Pattern pattern =
        Pattern.compile("(?i)(.*[^a-z0-9])?" + Pattern.quote(asked) + "([^a-z0-9_].*)?");
    return all().stream().filter(model -> pattern.matcher(model.get(0)).matches()).toList();
  }

  private List<List<String>> all() {
    return files.keySet().stream()
        .filter(file -> !BESIDE.matcher(file).matches())
        .map(GgufChoice::parts)
        .distinct()
        .toList();
  }

  private List<HubFile> whole(List<String> names) throws HubException {
    List<HubFile> found = new ArrayList<>();
    for (String part : names) {
      HubFile file = files.get(part);
      if (file == null) {
        throw new HubException("there is no file " + name.repository() + "/" + part);
      }
      found.add(file);
    }
    return found;
  }

  private String shown(List<List<String>> models) {
    StringBuilder text = new StringBuilder("; ask for one of:");
    for (List<String> model : models.subList(0, Math.min(MAX_SHOWN, models.size()))) {
      long bytes =
          model.stream().mapToLong(n -> files.containsKey(n) ? files.get(n).size() : 0).sum();
      text.append(text.charAt(text.length() - 1) == ':' ? " " : ", ")
          .append(name.repository())
          .append('/')
          .append(model.get(0))
          .append(name.suffix())
          .append(String.format(Locale.ROOT, " (%.1f GB)", bytes / 1e9));
    }
    return text.append(models.size() > MAX_SHOWN ? ", …" : "").toString();
  }
}
