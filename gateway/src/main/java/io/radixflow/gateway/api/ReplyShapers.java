package io.radixflow.gateway.api;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Fields of requests to OpenAI, vLLM, SGLang, llama.cpp and similar servers that an endpoint here
 * may not support. Unsupported fields that shape the reply are refused by name, so that clients do
 * not mistake a different reply for the requested one. Other unsupported fields are ignored. Fields
 * that an endpoint supports are not looked up here.
 */
public final class ReplyShapers {

  /**
   * Fields that shape a reply, each with the value that means the same as an absent field. A dash
   * means that only null, false and empty values mean this.
   */
  private static final String SHAPING =
      """
      add_generation_prompt true
      add_special_tokens -
      adaptive_target -
      allowed_token_ids -
      audio -
      bad_words -
      best_of 1
      chat_template -
      continue_final_message -
      custom_logit_processor -
      custom_params -
      documents -
      dry_multiplier 0
      dynatemp_range 0
      ebnf -
      ec_transfer_params -
      echo -
      enable_response_messages -
      enable_thinking -
      format -
      frequency_penalty 0
      function_call -
      functions -
      grammar -
      guided_choice -
      guided_grammar -
      guided_json -
      guided_regex -
      guided_whitespace_pattern -
      ignore_eos -
      images -
      include_reasoning true
      include_stop_str_in_output -
      input_embeds -
      input_extra -
      input_ids -
      input_prefix -
      input_suffix -
      json_schema -
      kv_transfer_params -
      length_penalty 1
      logit_bias -
      logits_processors -
      logprob_start_len -1
      logprob_token_ids -
      lora -
      lora_path -
      min_keep 0
      min_p 0
      min_tokens 0
      mirostat 0
      modalities ["text"]
      multimodal_data -
      n 1
      n_indent 0
      n_predict -
      n_probs 0
      no_stop_trim -
      parse_tool_calls true
      penalty_alpha 0
      post_sampling_probs -
      presence_penalty 0
      previous_input_messages -
      prompt_embeds -
      prompt_logprobs -
      reasoning_budget_tokens -1
      regex -
      repeat_penalty 1
      repetition_detection -
      repetition_penalty 1
      response_format -
      return_flat_raw_output_top_logprobs -
      return_hidden_states -
      return_input_ids_in_sglext -
      return_output_ids_in_sglext -
      return_prompt_text -
      return_prompt_token_ids -
      return_sampling_mask -
      return_token_ids -
      return_token_offsets -
      return_tokens -
      return_tokens_as_token_ids -
      return_routed_experts -
      role_mapping -
      samplers -
      sampling_logprobs_mode -
      session_params -
      skip_special_tokens true
      stop -
      stop_regex -
      stop_token_ids -
      structural_tag -
      structured_outputs -
      suffix -
      t_max_predict_ms 0
      think -
      tfs_z 1
      thinking_budget_tokens -1
      token_ids_logprob -
      top_a 0
      top_n_sigma -1
      top_logprobs_num 0
      truncate_prompt_tokens -
      truncation_side "left"
      typ_p 1
      typical_p 1
      use_beam_search -
      watermark -
      watermarking -
      web_search_options -
      xtc_probability 0
      """;

  /** Fields that can be ignored without changing the reply. */
  private static final String HARMLESS =
      """
      adaptive_decay backend_sampling betas bootstrap_host bootstrap_port bootstrap_room
      cache_prompt cache_salt cached_tokens_details chat_format chat_parser
      chat_template_content_format custom_labels data_parallel_rank decode_tp_size
      disagg_prefill_dp_rank dry_allowed_length dry_base dry_penalty_last_n dry_sequence_breakers
      dynatemp_exponent early_stopping extra_key grammar_lazy grammar_triggers grammar_type
      guided_decoding_backend id_slot image_max_dynamic_patch images_config keep_alive
      max_dynamic_patch media_io_kwargs metadata min_dynamic_patch mirostat_eta mirostat_tau
      mm_payload mm_processor_kwargs n_cache_reuse n_cmpl n_discard n_keep preserved_tokens priority
      provider reasoning_budget_message reasoning_control reasoning_format reasoning_in_content
      repeat_last_n request_id response_fields return_cached_tokens_details
      return_flat_raw_top_logprobs_b64 return_meta_info return_mm_kwargs return_spec_tokens_details
      return_text_in_logprobs return_weight_versions rid routed_dp_rank routed_experts_prompt_start
      routed_experts_start_len safety_identifier service_tier spaces_between_special_tokens
      speculative.n_max speculative.n_min speculative.p_min speculative.type sse_ping_interval store
      stream_interval stream_reasoning thinking_forced_open transforms use_audio_in_video user
      verbose verbosity video_config video_max_dynamic_patch vllm_xargs xtc_threshold
      """;

  private static final TreeMap<String, String> NEUTRAL = new TreeMap<>();
  private static final Set<String> IGNORED = new TreeSet<>(Arrays.asList(HARMLESS.split("\\s+")));

  static {
    for (String line : SHAPING.strip().split("\n")) {
      String[] words = line.strip().split(" ", 2);
      NEUTRAL.put(words[0], words[1]);
    }
  }

  private ReplyShapers() {}

  /** Returns whether a field with this value would shape the reply. */
  public static boolean shapes(String name, JsonNode value) {
    String neutral = NEUTRAL.get(name);
    if (neutral == null || value.isNull()) {
      return false;
    }
    boolean off = saysNothing(value) && !neutral.equals("true");
    return !off && !isNeutral(neutral, value);
  }

  /** Returns whether a field is in one of the lists. */
  public static boolean knows(String name) {
    return NEUTRAL.containsKey(name) || IGNORED.contains(name);
  }

  private static boolean isNeutral(String neutral, JsonNode value) {
    if (value.isNumber()
        && !neutral.equals("-")
        && Character.isDigit(neutral.charAt(neutral.length() - 1))) {
      return value.doubleValue() == Double.parseDouble(neutral);
    }
    return value.toString().equals(neutral);
  }

  /** Returns whether a value means that the client does not use the field. */
  static boolean saysNothing(JsonNode value) {
    return value.isNull()
        || value.isContainerNode() && value.isEmpty()
        || value.isTextual() && value.textValue().isEmpty()
        || value.isBoolean() && !value.booleanValue();
  }
}
