package io.radixflow.text.tokenizer;

import java.text.Normalizer;
import java.util.Locale;

/** Rewrites a run of text before it is split into pieces. Thread-safe. */
@FunctionalInterface
interface TextNormalizer {

  TextNormalizer NONE = text -> text;

  String normalize(String text);

  /** Returns a normalizer that applies this one and then {@code next}. */
  default TextNormalizer then(TextNormalizer next) {
    return this == NONE ? next : text -> next.normalize(normalize(text));
  }

  /** Returns one of Unicode's normalization forms. */
  static TextNormalizer form(Normalizer.Form form) {
    return text -> Normalizer.normalize(text, form);
  }

  /** Returns a normalizer that puts a text before each run that is not empty. */
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
