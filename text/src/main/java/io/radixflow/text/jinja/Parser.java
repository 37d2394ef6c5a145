package io.radixflow.text.jinja;

import io.radixflow.text.jinja.Token.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** Parses a template into statements. */
final class Parser {
  private static final Set<String> CONSTANTS =
      Set.of("true", "True", "false", "False", "none", "None");

  private final TokenStream stream;
  private final ExpressionParser expressions;

  /** The number of loops around the current position, inside the current macro. */
  private int loops;

  private Parser(TokenStream stream) {
    this.stream = stream;
    this.expressions = new ExpressionParser(stream);
  }

  static List<Statement> parse(String template) {
    Parser parser = new Parser(new TokenStream(Lexer.tokens(template)));
    return parser.checked();
  }

  /**
   * Parses statements up to a tag with one of the names; up to the end of the template if there are
   * no names.
   */
  private List<Statement> statements(String... endNames) {
    stream.enter();
    List<Statement> statements = new ArrayList<>();
    while (!stream.current().is(Type.END)) {
      Token token = stream.next();
      if (token.is(Type.DATA)) {
        statements.add(new Statement(token.line(), Statements.data(token.value())));
      } else if (token.is(Type.VARIABLE_BEGIN)) {
        statements.add(
            new Statement(token.line(), Statements.print(expressions.tuple(true, false))));
        stream.expect(Type.VARIABLE_END);
      } else {
        Token name = stream.current();
        if (name.is(Type.NAME) && Arrays.asList(endNames).contains(name.value())) {
          stream.leave();
          return statements;
        }
        statements.add(statement());
        stream.expect(Type.BLOCK_END);
      }
    }
    if (endNames.length > 0) {
      throw stream.failure(
          "Unexpected end of template. Jinja was looking for: " + String.join(", ", endNames));
    }
    stream.leave();
    return statements;
  }

  /**
   * Parses statements. Throws the first unsupported name among them that is not inside a condition.
   */
  private List<Statement> checked(String... endNames) {
    int refused = expressions.refusals.count();
    List<Statement> statements = statements(endNames);
    expressions.refusals.check(refused);
    return statements;
  }

  /** Parses a body, from after its tag to the tag that ends it. */
  private List<Statement> body(String endName) {
    beginBody();
    List<Statement> body = checked(endName);
    stream.next();
    return body;
  }

  private void beginBody() {
    stream.skipOperator(":");
    stream.expect(Type.BLOCK_END);
  }

  private Statement statement() {
    Token tag = stream.expect(Type.NAME);
    return new Statement(tag.line(), tagged(tag.value()));
  }

  private Statement.Body tagged(String tag) {
    return switch (tag) {
      case "for" -> loop();
      case "if" -> condition();
      case "set" -> set();
      case "with" -> with();
      case "macro" -> macro();
      case "call" -> callBlock();
      case "filter" -> filterBlock();
      case "generation" -> generation();
      case "break", "continue" -> leave(tag);
      default -> throw stream.failure("the tag '" + tag + "' is not supported");
    };
  }

  private Statement.Body loop() {
    AssignmentTarget target = target(false);
    if (!stream.skipName("in")) {
      throw stream.failure("expected token 'in', got '" + stream.current().described() + "'");
    }
    Expression iterable = expressions.loopElements();
    Expression test = stream.skipName("if") ? expressions.expression() : null;
    boolean recursive = stream.skipName("recursive");
    loops++;
    beginBody();
    List<Statement> body = checked("endfor", "else");
    loops--;
    List<Statement> otherwise = List.of();
    if (stream.next().isName("else")) {
      otherwise = body("endfor");
    }
    return new ForLoop(target, iterable, test, recursive, body, otherwise);
  }

  private Statement.Body condition() {
    List<Expression> conditions = new ArrayList<>();
    List<List<Statement>> branches = new ArrayList<>();
    int refused = expressions.refusals.count();
    String tag;
    do {
      conditions.add(expressions.tuple(false, false));
      beginBody();
      branches.add(statements("elif", "else", "endif"));
      tag = stream.next().value();
    } while (tag.equals("elif"));
    if (tag.equals("else")) {
      beginBody();
      branches.add(statements("endif"));
      stream.next();
    } else {
      branches.add(List.of());
    }
    expressions.refusals.forgive(refused);
    return Statements.condition(conditions, branches);
  }

  private Statement.Body set() {
    AssignmentTarget target = target(true);
    if (stream.skipOperator("=")) {
      return Statements.set(target, expressions.tuple(true, false));
    }
    CallExpression filter = (CallExpression) expressions.operands.filters(null, false);
    return Statements.block(target, filter, body("endset"));
  }

  private Statement.Body with() {
    List<AssignmentTarget> targets = new ArrayList<>();
    List<Expression> values = new ArrayList<>();
    while (!stream.current().is(Type.BLOCK_END)) {
      if (!targets.isEmpty()) {
        stream.expectOperator(",");
      }
      targets.add(target(false));
      stream.expectOperator("=");
      values.add(expressions.expression());
    }
    return Statements.with(targets, values, body("endwith"));
  }

  private Statement.Body macro() {
    String name = variable();
    expressions.beginMacro();
    return Statements.define(definition(name, "endmacro"));
  }

  private Statement.Body callBlock() {
    expressions.beginMacro();
    List<String> parameters = new ArrayList<>();
    List<Expression> defaults = new ArrayList<>();
    if (stream.current().isOperator("(")) {
      signature(parameters, defaults);
    }
    Set<String> signatureUses = expressions.endMacro();
    if (!(expressions.expression() instanceof CallExpression call) || !call.isFunction()) {
      throw stream.failure("expected call");
    }
    expressions.beginMacro();
    List<Statement> body = macroBody("endcall");
    Set<String> uses = expressions.endMacro();
    uses.addAll(signatureUses);
    return Statements.callBlock(call, new Macro.Definition(null, parameters, defaults, uses, body));
  }

  private Macro.Definition definition(String name, String endName) {
    List<String> parameters = new ArrayList<>();
    List<Expression> defaults = new ArrayList<>();
    signature(parameters, defaults);
    List<Statement> body = macroBody(endName);
    int required = parameters.size() - defaults.size();
    int caller = parameters.indexOf("caller");
    if (caller >= 0 && caller < required) {
      throw stream.failure("the special \"caller\" argument must be omitted or be given a default");
    }
    return new Macro.Definition(name, parameters, defaults, expressions.endMacro(), body);
  }

  private List<Statement> macroBody(String endName) {
    int outer = loops;
    loops = 0;
    List<Statement> body = body(endName);
    loops = outer;
    return body;
  }

  private void signature(List<String> parameters, List<Expression> defaults) {
    stream.expectOperator("(");
    while (!stream.skipOperator(")")) {
      if (!parameters.isEmpty()) {
        stream.expectOperator(",");
      }
      String name = variable();
      if (parameters.contains(name)) {
        throw stream.failure("duplicate argument '" + name + "'");
      }
      parameters.add(name);
      if (stream.skipOperator("=")) {
        defaults.add(expressions.expression());
      } else if (!defaults.isEmpty()) {
        throw stream.failure("non-default argument follows default argument");
      }
    }
  }

  private Statement.Body filterBlock() {
    CallExpression filter = (CallExpression) expressions.operands.filters(null, true);
    return Statements.block(null, filter, body("endfilter"));
  }

  private Statement.Body generation() {
    List<Statement> body = macroBody("endgeneration");
    return (interpreter, scope) -> interpreter.run(body, new Scope(scope));
  }

  private Statement.Body leave(String tag) {
    if (loops == 0) {
      throw stream.failure("'" + tag + "' outside loop");
    }
    Statement.Flow flow = Statement.Flow.valueOf(tag.toUpperCase(java.util.Locale.ROOT));
    return (interpreter, scope) -> flow;
  }

  private String variable() {
    Token token = stream.expect(Type.NAME);
    if (CONSTANTS.contains(token.value())) {
      throw stream.failure("can't assign to '" + token.value() + "'");
    }
    return token.value();
  }

  private AssignmentTarget target(boolean attributes) {
    List<AssignmentTarget> targets = new ArrayList<>();
    boolean several = false;
    while (targets.isEmpty()
        || stream.current().is(Type.NAME) && !stream.current().isName("in")
        || stream.current().isOperator("(")) {
      targets.add(single(attributes));
      if (!stream.skipOperator(",")) {
        break;
      }
      several = true;
    }
    return several ? new AssignmentTarget.Several(targets) : targets.get(0);
  }

  private AssignmentTarget single(boolean attributes) {
    if (stream.skipOperator("(")) {
      stream.enter();
      AssignmentTarget inner = target(false);
      stream.leave();
      stream.expectOperator(")");
      return inner;
    }
    String name = variable();
    if (attributes && stream.skipOperator(".")) {
      return new AssignmentTarget.NamespaceAttribute(name, stream.expect(Type.NAME).value());
    }
    return new AssignmentTarget.Variable(name);
  }
}
