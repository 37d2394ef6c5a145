package io.radixflow.kernels.text.template;

import com.hubspot.jinjava.interpret.JinjavaInterpreter;
import com.hubspot.jinjava.lib.exptest.ExpTest;
import java.util.Map;

/** Jinja2's {@code is iterable}, which holds for texts too. */
final class JinjaIterable implements ExpTest {

  @Override
  public String getName() {
    return "iterable";
  }

  @Override
  public boolean evaluate(Object value, JinjavaInterpreter interpreter, Object... args) {
    return value instanceof Iterable || value instanceof Map || value instanceof CharSequence;
  }
}
