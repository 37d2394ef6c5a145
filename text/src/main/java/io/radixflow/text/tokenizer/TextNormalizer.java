package io.radixflow.text.tokenizer;

import java.text.Normalizer;
import java.util.Locale;

/** Rewrites a run of text before it is cut into pieces. Safe for many threads. */
@FunctionalInterface
interface TextNormalizer {

  TextNormalizer NONE = text -> text;

  String normalize(String text);

  /** This one, then another. */
  default TextNormalizer then(TextNormalizer next) {
    return this == NONE ? next : text -> next.normalize(normalize(text));
  }

  /** One of Unicode's normalization forms. */
  static TextNormalizer form(Normalizer.Form form) {
    return text -> Normalizer.normalize(text, form);
  }

  /** Puts a text before each run that is not empty. */
  static TextNormalizer prepend(String prefix) {
    return text -> text.isEmpty() ? text : prefix + text;
  }

  static TextNormalizer replace(String found, String replacement) {
    return text -> text.replace(found, replacement);
  }

  static TextNormalizer lowerCase() {
    return text -> text.toLowerCase(Locale.ROOT);
  }
}
