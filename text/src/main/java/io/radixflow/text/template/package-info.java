/** Chat templates: render a conversation to the prompt that a model was trained on, in Jinja. */
package io.radixflow.text.template;
