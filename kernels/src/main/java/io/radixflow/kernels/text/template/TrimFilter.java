package io.radixflow.kernels.text.template;

import com.hubspot.jinjava.interpret.JinjavaInterpreter;
import com.hubspot.jinjava.lib.filter.Filter;

/** Jinja2's {@code trim}: white space as Python has it; jinjava's own also cuts control bytes. */
final class TrimFilter implements Filter {

  @Override
  public String getName() {
    return "trim";
  }

  @Override
  public Object filter(Object value, JinjavaInterpreter interpreter, String... args) {
    String characters = args.length > 0 ? args[0] : null;
    return value == null ? "" : PythonStrings.strip(value.toString(), characters, true, true);
  }
}
