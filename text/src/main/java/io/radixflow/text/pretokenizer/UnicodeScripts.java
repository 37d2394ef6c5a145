package io.radixflow.text.pretokenizer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntPredicate;

/** The scripts that patterns of tokenizers name, such as {@code \p{Han}}, as of Unicode 16.0. */
final class UnicodeScripts {

  private static final String RESOURCE = "scripts-16.txt";

  private static final Map<String, BitSet> SCRIPTS = load();

  private UnicodeScripts() {}

  /** The code points of a script by its name in lower case; null if it is not known. */
  static IntPredicate of(String name) {
    BitSet script = SCRIPTS.get(name);
    return script == null ? null : c -> script.get(c) && UnicodeClasses.category(c) != 0;
  }

  private static Map<String, BitSet> load() {
    Map<String, BitSet> scripts = new HashMap<>();
    try (InputStream in = UnicodeScripts.class.getResourceAsStream(RESOURCE);
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII))) {
      BitSet current = new BitSet();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.matches("[A-Z][a-z]+")) {
          current = new BitSet();
          scripts.put(line.toLowerCase(Locale.ROOT), current);
        } else if (!line.startsWith("#")) {
          for (String range : line.split(" ")) {
            String[] ends = range.split("-");
            int first = Integer.parseInt(ends[0], 16);
            current.set(first, Integer.parseInt(ends[ends.length - 1], 16) + 1);
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return scripts;
  }
}
