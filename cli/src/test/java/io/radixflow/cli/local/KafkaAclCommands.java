package io.radixflow.cli.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.utils.SecurityUtils;

/**
 * The ACLs that the commands of a page make: its lines that begin with the variable {@code $acls}.
 */
final class KafkaAclCommands {
  private static final Pattern COMMAND = Pattern.compile("^\\$acls (.*)$", Pattern.MULTILINE);

  private KafkaAclCommands() {}

  static List<AclBinding> of(Path page) throws IOException {
    String text = Files.readString(page).replace("\\\n", "");
    List<AclBinding> acls = new ArrayList<>();
    for (Matcher command = COMMAND.matcher(text); command.find(); ) {
      acls.addAll(acls(command.group(1).trim().split("\\s+")));
    }
    return acls;
  }

  private static List<AclBinding> acls(String[] words) {
    String principal = null;
    PatternType pattern = PatternType.LITERAL;
    List<AclOperation> operations = new ArrayList<>();
    List<ResourceType> types = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (int i = 0; i < words.length; i++) {
      switch (words[i]) {
        case "--allow-principal" -> principal = words[++i];
        case "--operation" -> operations.add(SecurityUtils.operation(words[++i]));
        case "--resource-pattern-type" ->
            pattern = PatternType.valueOf(words[++i].toUpperCase(Locale.ROOT));
        case "--topic", "--group", "--transactional-id" -> {
          types.add(ResourceType.fromString(words[i].substring(2).replace('-', '_')));
          names.add(words[++i]);
        }
        default -> throw new IllegalArgumentException("unknown word " + words[i]);
      }
    }
    List<AclBinding> acls = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      for (AclOperation operation : operations) {
        acls.add(
            new AclBinding(
                new ResourcePattern(types.get(i), names.get(i), pattern),
                new AccessControlEntry(principal, "*", operation, AclPermissionType.ALLOW)));
      }
    }
    return acls;
  }
}
