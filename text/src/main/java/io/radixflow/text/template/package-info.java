/**
 * Chat templates in Jinja, which turn a conversation into a prompt of the kind that a model was
 * trained on.
 */
package io.radixflow.text.template;
