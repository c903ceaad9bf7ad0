// Shows the OpenAPI document with Swagger UI. The page stores nothing, so it forgets the API key when it is
// closed, and it does not use the validator on the Internet. Examples of optional parameters are removed,
// because "Try it out" would send them.
fetch("api/v1/openapi.json").then((response) => response.json()).then((spec) => {
  spec.info.description = spec.info.description.replace("http://127.0.0.1:8080", location.origin);
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
    syntaxHighlight: false,
  });
}).catch((error) => {
  document.getElementById("document").textContent = "Cannot show the document at /api/v1/openapi.json: " + error;
});

// The office page redirects to sign-in. It does not exist if the service runs with --no-office.
fetch("office/", { redirect: "manual" }).then((response) => {
  document.getElementById("office").hidden = response.status === 404;
});
