package io.radixflow.text.jinja;

import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Namespace;
import io.radixflow.text.jinja.value.Values;
import java.util.Iterator;
import java.util.List;

/** The target of an assignment. */
interface AssignmentTarget {
  void assign(Interpreter interpreter, Scope scope, Object value);

  record Variable(String name) implements AssignmentTarget {
    @Override
    public void assign(Interpreter interpreter, Scope scope, Object value) {
      scope.set(name, value);
    }
  }

  /** An attribute of a namespace. */
  record NamespaceAttribute(String namespace, String name) implements AssignmentTarget {
    @Override
    public void assign(Interpreter interpreter, Scope scope, Object value) {
      if (!(scope.get(namespace) instanceof Namespace object)) {
        throw JinjaException.of(
            "TemplateRuntimeError", "cannot assign attribute on non-namespace object");
      }
      interpreter.budget.items(1);
      object.set(name, value);
    }
  }

  /** Several targets. The value is unpacked into them and must have as many elements. */
  record Several(List<AssignmentTarget> targets) implements AssignmentTarget {
    @Override
    public void assign(Interpreter interpreter, Scope scope, Object value) {
      Iterator<Object> items = Values.iterate(value);
      Object[] unpacked = new Object[targets.size()];
      for (int i = 0; i < unpacked.length; i++) {
        if (!items.hasNext()) {
          throw JinjaException.value(
              "not enough values to unpack (expected %d, got %d)", unpacked.length, i);
        }
        unpacked[i] = items.next();
      }
      if (items.hasNext()) {
        throw JinjaException.value("too many values to unpack (expected %d)", unpacked.length);
      }
      for (int i = 0; i < unpacked.length; i++) {
        targets.get(i).assign(interpreter, scope, unpacked[i]);
      }
    }
  }
}
