# SPDX-License-Identifier: MIT
"""Random tiny models of many architectures, and inputs for them."""

import torch
import transformers as hf

VOCABULARY = 97
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}

SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
TEXT = {"vocab_size": VOCABULARY, "max_position_embeddings": 64}
LLAMA_LIKE = {**SIZES, **TEXT, **TOKENS, "num_key_value_heads": 2, "max_position_embeddings": 128}
BERT_LIKE = {**SIZES, **TEXT, "pad_token_id": 0}
VISION = {**SIZES, "image_size": 32, "patch_size": 8}
BART_LIKE = {
    **TEXT,
    "d_model": 32,
    "decoder_layers": 2,
    "encoder_layers": 2,
    "decoder_attention_heads": 4,
    "encoder_attention_heads": 4,
    "decoder_ffn_dim": 48,
    "encoder_ffn_dim": 48,
    **TOKENS,
    "decoder_start_token_id": 1,
}
T5_LIKE = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": 4,
    "decoder_start_token_id": 0,
}


def _llama_like(name, cls=None, **more):
    model = getattr(hf, cls or f"{name}ForCausalLM")
    return model, lambda: getattr(hf, f"{name}Config")(**{**LLAMA_LIKE, **more})


#: Decoders: name -> (class, a function that makes the config).
DECODERS = {
    "llama": _llama_like("Llama"),
    "mistral": _llama_like("Mistral", sliding_window=5),
    "qwen2": _llama_like("Qwen2"),
    "qwen3": _llama_like("Qwen3"),
    "phi3": _llama_like("Phi3"),
    "olmo2": _llama_like("Olmo2"),
    "cohere": _llama_like("Cohere"),
    "starcoder2": _llama_like("Starcoder2", sliding_window=6),
    "gemma": _llama_like("Gemma", head_dim=8),
    "gemma2": _llama_like("Gemma2", head_dim=8, sliding_window=5),
    "gemma3": _llama_like("Gemma3Text", "Gemma3ForCausalLM", head_dim=8, sliding_window=5),
    "gpt_oss": _llama_like(
        "GptOss", head_dim=8, num_local_experts=2, num_experts_per_tok=1, sliding_window=5
    ),
    "granite": _llama_like("Granite"),
    "stablelm": _llama_like("StableLm"),
    "glm": _llama_like("Glm"),
    "helium": _llama_like("Helium", head_dim=8),
    "smollm3": _llama_like("SmolLM3"),
    "exaone4": _llama_like("Exaone4", sliding_window=5),
    "nemotron": _llama_like("Nemotron"),
    "llama4": _llama_like(
        "Llama4Text",
        "Llama4ForCausalLM",
        head_dim=8,
        attention_chunk_size=6,
        num_local_experts=2,
        intermediate_size_mlp=48,
    ),
    "gpt2": (
        hf.GPT2LMHeadModel,
        lambda: hf.GPT2Config(
            vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4, n_positions=64, **TOKENS
        ),
    ),
    "gpt_neox": (hf.GPTNeoXForCausalLM, lambda: hf.GPTNeoXConfig(**{**BERT_LIKE, **TOKENS})),
    "opt": (
        hf.OPTForCausalLM,
        lambda: hf.OPTConfig(
            **{x: y for x, y in SIZES.items() if x != "intermediate_size"},
            **TEXT,
            **TOKENS,
            ffn_dim=48,
            word_embed_proj_dim=32,
        ),
    ),
}

ENCODERS = {
    "bert": (hf.BertModel, lambda: hf.BertConfig(**BERT_LIKE)),
    "roberta": (hf.RobertaModel, lambda: hf.RobertaConfig(**BERT_LIKE)),
    "xlm_roberta": (hf.XLMRobertaModel, lambda: hf.XLMRobertaConfig(**BERT_LIKE)),
    "distilbert": (
        hf.DistilBertModel,
        lambda: hf.DistilBertConfig(
            vocab_size=VOCABULARY, dim=32, hidden_dim=48, n_layers=2, n_heads=4, max_position_embeddings=64
        ),
    ),
    "albert": (hf.AlbertModel, lambda: hf.AlbertConfig(**BERT_LIKE, embedding_size=16)),
    "electra": (hf.ElectraModel, lambda: hf.ElectraConfig(**BERT_LIKE, embedding_size=32)),
    "modernbert": (
        hf.ModernBertModel,
        lambda: hf.ModernBertConfig(
            **{**BERT_LIKE, **TOKENS}, local_attention=6, cls_token_id=1, sep_token_id=2
        ),
    ),
    "clip_text": (hf.CLIPTextModel, lambda: hf.CLIPTextConfig(**{**BERT_LIKE, **TOKENS})),
}

VISIONS = {
    "vit": (hf.ViTModel, lambda: hf.ViTConfig(**VISION)),
    "deit": (hf.DeiTModel, lambda: hf.DeiTConfig(**VISION)),
    "dinov2": (hf.Dinov2Model, lambda: hf.Dinov2Config(**VISION)),
    "clip": (hf.CLIPVisionModel, lambda: hf.CLIPVisionConfig(**VISION)),
    "siglip": (hf.SiglipVisionModel, lambda: hf.SiglipVisionConfig(**VISION)),
}

TRANSLATORS = {
    "t5": (hf.T5ForConditionalGeneration, lambda: hf.T5Config(**T5_LIKE)),
    "bart": (hf.BartForConditionalGeneration, lambda: hf.BartConfig(**BART_LIKE)),
    "marian": (hf.MarianMTModel, lambda: hf.MarianConfig(**BART_LIKE)),
}


def whisper():
    sizes = {name: x for name, x in BART_LIKE.items() if name != "max_position_embeddings"}
    config = hf.WhisperConfig(**sizes, num_mel_bins=8, max_source_positions=30, max_target_positions=30)
    return hf.WhisperForConditionalGeneration(config)


def build(entry, **changes):
    """The model of an entry in evaluation mode, with the same weights every time."""
    cls, config = entry
    config = config()
    for name, value in changes.items():
        setattr(config, name, value)
    torch.manual_seed(0)
    return cls(config).eval()


def tokens(batch=2, length=17, seed=1):
    return torch.randint(3, VOCABULARY, (batch, length), generator=torch.Generator().manual_seed(seed))


def padding(side, hidden=6, batch=2, length=17):
    """A mask of zeros and ones: the second sequence has `hidden` padding tokens."""
    mask = torch.ones(batch, length, dtype=torch.long)
    if side == "left":
        mask[1, :hidden] = 0
    if side == "right":
        mask[1, -hidden:] = 0
    return mask
