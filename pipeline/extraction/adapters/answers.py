"""What is asked of a provider so that the answer is an envelope, and the answer's text wherever it then stands."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from pipeline.candidate import Envelope
from pipeline.errors import MalformedEnvelope
from pipeline.extraction.adapters.endpoint import AnswerForm, Endpoint, Provider

NAME = "envelope"
DESCRIPTION = "All candidates of the session; none is an answer."
REPAIR = (
    "Your answer was refused: {reason}\n"
    "Send the whole corrected JSON document, nothing else. Do not shorten it to make it pass: fix what was named."
)
CUT = "the answer was cut at the model's limit on its length: propose what matters most, in fewer words"


def form(endpoint: Endpoint, model: Model) -> AnswerForm:
    """The endpoint's choice; `auto` asks nothing of an OpenAI-compatible server that it may not know."""
    if endpoint.answer_form is not AnswerForm.AUTO:
        return endpoint.answer_form
    if endpoint.provider is Provider.OPENAI and not endpoint.is_the_providers_own:
        return AnswerForm.TEXT
    if model.profile.get("supports_json_schema_output"):
        return AnswerForm.SCHEMA
    return AnswerForm.TOOL if endpoint.provider is Provider.ANTHROPIC else AnswerForm.TEXT


def parameters(form: AnswerForm) -> ModelRequestParameters:
    """How pydantic-ai says it to the provider."""
    if form is AnswerForm.SCHEMA:
        wanted = OutputObjectDefinition(_schema(), name=NAME, description=DESCRIPTION, strict=True)
        return ModelRequestParameters(output_mode="native", output_object=wanted)
    if form is AnswerForm.TOOL:
        tool = ToolDefinition(name=NAME, description=DESCRIPTION, parameters_json_schema=_schema(), kind="output")
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
    return ModelRequestParameters()


@cache
def _schema() -> dict[str, Any]:
    return Envelope.model_json_schema()


def text(answer: ModelResponse) -> str:
    """What the model said: its call of the tool, else its text. Raises MalformedEnvelope for one cut at its limit."""
    if answer.finish_reason == "length":
        raise MalformedEnvelope(CUT)
    return said(answer)


def said(answer: ModelResponse) -> str:
    calls = [part for part in answer.parts if isinstance(part, ToolCallPart)]
    if calls:
        return calls[0].args_as_json_str()
    return "".join(part.content for part in answer.parts if isinstance(part, TextPart))


def repair(answer: ModelResponse, reason: str) -> list[ModelMessage]:
    """The refused answer and why; an empty answer is left out, since endpoints refuse an empty message."""
    told = REPAIR.format(reason=reason)
    calls = [part for part in answer.parts if isinstance(part, ToolCallPart)]
    parts: list[ModelRequestPart] = [ToolReturnPart(call.tool_name, told, call.tool_call_id) for call in calls]
    asked = ModelRequest(parts=parts or [UserPromptPart(told)])
    return [answer, asked] if said(answer) else [asked]
