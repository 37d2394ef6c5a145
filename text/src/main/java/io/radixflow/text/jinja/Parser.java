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
        statements.add(new Statements.Data(token.line(), token.value()));
      } else if (token.is(Type.VARIABLE_BEGIN)) {
        statements.add(new Statements.Print(token.line(), expressions.tuple(true, false)));
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
    int line = tag.line();
    return switch (tag.value()) {
      case "for" -> loop(line);
      case "if" -> condition(line);
      case "set" -> set(line);
      case "with" -> with(line);
      case "macro" -> macro(line);
      case "call" -> callBlock(line);
      case "filter" -> filterBlock(line);
      case "generation" -> generation(line);
      case "break", "continue" -> leave(line, tag.value());
      default -> throw stream.failure("the tag '" + tag.value() + "' is not supported");
    };
  }

  private Statement loop(int line) {
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
    return new ForLoop(line, target, iterable, test, recursive, body, otherwise);
  }

  private Statement condition(int line) {
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
    return new Statements.If(line, conditions, branches);
  }

  private Statement set(int line) {
    AssignmentTarget target = target(true);
    if (stream.skipOperator("=")) {
      return new Statements.Set(line, target, expressions.tuple(true, false));
    }
    CallExpression filter = (CallExpression) expressions.operands.filters(null, false);
    return new Statements.SetBlock(line, target, filter, body("endset"));
  }

  private Statement with(int line) {
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
    return new Statements.With(line, targets, values, body("endwith"));
  }

  private Statement macro(int line) {
    String name = variable();
    expressions.beginMacro();
    return new Statements.Define(line, definition(name, "endmacro"));
  }

  private Statement callBlock(int line) {
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
    return new Statements.CallBlock(
        line, call, new Macro.Definition(null, parameters, defaults, uses, body));
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

  private Statement filterBlock(int line) {
    CallExpression filter = (CallExpression) expressions.operands.filters(null, true);
    return new Statements.FilterBlock(line, filter, body("endfilter"));
  }

  private Statement generation(int line) {
    return new Statements.Scoped(line, macroBody("endgeneration"));
  }

  private Statement leave(int line, String tag) {
    if (loops == 0) {
      throw stream.failure("'" + tag + "' outside loop");
    }
    Statement.Flow flow = Statement.Flow.valueOf(tag.toUpperCase(java.util.Locale.ROOT));
    return new Statements.Leave(line, flow);
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
