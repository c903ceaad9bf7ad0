// Shows the document. The key stays in this page: nothing is stored, and no badge of a
// validator on the Internet is asked for. The examples of parameters that may be absent
// are left out, because the page would send them.
fetch("api/v1/openapi.json").then((answer) => answer.json()).then((spec) => {
  for (const parameter of Object.values(spec.components.parameters)) {
    if (parameter.required) continue;
    delete parameter.example;
    delete parameter.examples;
  }
  SwaggerUIBundle({
    spec,
    dom_id: "#document",
    layout: "BaseLayout",
    presets: [SwaggerUIBundle.presets.apis],
    validatorUrl: null,
    persistAuthorization: false,
    tryItOutEnabled: true,
    defaultModelsExpandDepth: 0,
  });
}).catch((error) => {
  document.getElementById("document").textContent = "The document at /api/v1/openapi.json cannot be shown: " + error;
});
