package io.radixflow.text.jinja.value;

/** A method together with the object from which it was read. */
public record Method(Object self, String name, Invocable body) implements Invocable {

  @Override
  public Object call(Budget budget, Arguments arguments) {
    return body.call(budget, arguments.withFirst(self));
  }
}
